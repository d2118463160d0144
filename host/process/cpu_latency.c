// SPDX-License-Identifier: GPL-2.0-or-later
/* A latency limit of 0 us for all CPUs. */
#include "host/process/cpu_latency.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int cpu_latency_open(bool verbose)
{
	const int32_t latency_us = 0;
	int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, &latency_us, sizeof(latency_us)) == sizeof(latency_us))
		return fd;
	if (verbose)
		warnx("idle CPUs may sleep deeply and wake up late: /dev/cpu_dma_latency: %s: run as root",
		      strerror(errno));
	cpu_latency_close(fd);
	return -1;
}

void cpu_latency_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

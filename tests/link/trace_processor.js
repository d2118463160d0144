// SPDX-License-Identifier: GPL-2.0-or-later
//
// trace_processor of Perfetto as its user interface has it: WebAssembly, in the worker engine_bundle.js. Standard input and output are a
// TraceProcessorRpcStream of trace_processor.proto each, of requests and of replies.
//
//   node trace_processor.js FOLDER <REQUESTS >REPLIES    FOLDER: of engine_bundle.js
const fs = require('fs');
const folder = process.argv[2] + '/';

// What a worker of a browser finds.
process.type = 'renderer';
globalThis.WorkerGlobalScope = Object;
globalThis.self = globalThis;
globalThis.location = {href: 'http://localhost/'};
globalThis.XMLHttpRequest = class {
  open(method, file) { this.file = file; }
  send() { this.response = fs.readFileSync(folder + this.file); }
};
console.log = console.warn = () => {}; // its log
(0, eval)(fs.readFileSync(folder + 'engine_bundle.js', 'utf8'));

const port = {postMessage: (data) => fs.writeSync(1, data)};
self.onmessage({data: port});
setImmediate(() => port.onmessage({data: new Uint8Array(fs.readFileSync(0))}));

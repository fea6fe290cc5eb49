// SPDX-License-Identifier: MIT
// Reads profiles by the importer of speedscope, without its page: node speedscope_import.js SPEEDSCOPE.js FILE...
// Prints a JSON object for each file: its profiles, with the total and own weight of each frame.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [program, ...files] = process.argv.slice(2);
let code = fs.readFileSync(program, "utf8");
// Names of functions are short in the released program: the importer is found by what it calls.
const found = /async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfileGroupFromBase64\(/.exec(code);
if (!found) {
    console.error("the importer of %s is unknown", program);
    process.exit(77);
}
code = code.slice(0, found.index) + "globalThis.importBase64=" + found[1] + ";" + code.slice(found.index);

// The document of the page: everything but other libraries exists and does nothing. Drawing the page fails, after the importer is
// defined.
const page = new Proxy(function () {}, {
    get(_, key) {
        if (["then", "dcodeIO", "Long"].includes(key))
            return undefined;
        return key === Symbol.toPrimitive ? () => "" : key === Symbol.iterator ? [][Symbol.iterator] : page;
    },
    set: () => true, has: () => true, apply: () => page, construct: () => page,
});
const silent = { log() {}, warn() {}, error() {}, time() {}, timeEnd() {} };
const context = vm.createContext({ console: silent, document: page, window: page, location: page, navigator: page, addEventListener() {},
    requestAnimationFrame() {}, setTimeout, atob, TextDecoder, TextEncoder, URL });
context.self = context;
try {
    vm.runInContext(code, context);
} catch (error) {
    // Drawing, see above.
}

async function read(file) {
    const group = await context.importBase64(path.basename(file), fs.readFileSync(file).toString("base64"));
    const profiles = group.profiles.map((profile) => {
        const frames = [];
        profile.forEachFrame((f) => frames.push({ name: f.name, file: f.file, line: f.line, total: f.getTotalWeight(), self: f.getSelfWeight() }));
        return { name: profile.getName(), frames };
    });
    console.log(JSON.stringify({ file: path.basename(file), profiles }));
}

(async () => {
    for (const file of files)
        await read(file);
})().catch((error) => {
    console.error(error);
    process.exit(1);
});

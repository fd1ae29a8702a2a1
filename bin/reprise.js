#!/usr/bin/env node
// Plain JavaScript that every Node.js can read, so that an old one gets a sentence instead of a
// stack trace.
import { nodeTooOld } from "./node-version.js";

if (nodeTooOld === null) {
  const { keepCompiledCode } = await import("./compile-cache.js");
  keepCompiledCode();
  // an import of node:fs would load its streams too, which costs a tenth of the start
  const { existsSync } = process.getBuiltinModule("node:fs");
  // if the sources exist, they are the program: the build may be older
  const sources = new URL("../src/main.ts", import.meta.url);
  await import(existsSync(sources) ? sources.href : "../dist/program/main.js");
} else {
  console.error(nodeTooOld);
  process.exitCode = 1;
}

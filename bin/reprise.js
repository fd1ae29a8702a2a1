#!/usr/bin/env node
// Plain JavaScript that every Node.js can read, so that an old one gets a sentence instead of a
// stack trace: the program itself needs Node.js 24.15 (see package.json).
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 24 || (major === 24 && minor >= 15)) {
  const { keepCompiledCode } = await import("./compile-cache.js");
  keepCompiledCode();
  // an import of node:fs would load its streams too, which costs a tenth of the start
  const { existsSync } = process.getBuiltinModule("node:fs");
  // where the sources are, they are the program: what was built from them may be older
  const sources = new URL("../src/main.ts", import.meta.url);
  await import(existsSync(sources) ? sources.href : "../dist/program/main.js");
} else {
  console.error(
    `reprise needs Node.js 24.15 or newer; this is ${process.versions.node}. Install a newer one; in a checkout of Reprise \`npm ci\` brings one, and \`npx reprise\` uses it.`,
  );
  process.exitCode = 1;
}

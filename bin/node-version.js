// Plain JavaScript that every Node.js can read: it says so where the program itself cannot be read.
const version = process.versions.node;
const [major = 0, minor = 0] = version.split(".").map(Number);

/** What an older Node.js is told, in one sentence; null on one that Reprise runs on (see package.json). */
export const nodeTooOld =
  major > 24 || (major === 24 && minor >= 15)
    ? null
    : `reprise needs Node.js 24.15 or newer; this is ${version}. Install a newer one; in a checkout of Reprise \`npm ci\` brings one, and \`npx reprise\` uses it.`;

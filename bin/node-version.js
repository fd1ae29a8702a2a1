// Plain JavaScript that every Node.js can read: an older one cannot read the program itself.
const version = process.versions.node;
const [major = 0, minor = 0] = version.split(".").map(Number);

/** The error for a Node.js that is too old, in one sentence; null otherwise (see package.json). */
export const nodeTooOld =
  major > 24 || (major === 24 && minor >= 15)
    ? null
    : `reprise needs Node.js 24.15 or newer; this is ${version}. Install a newer one; in a checkout of Reprise \`npm ci\` installs one, and \`npx reprise\` uses it.`;

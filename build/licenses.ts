import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { RolldownOutput } from "rolldown";

/** Licences that let their text be copied with the code and ask for nothing else. */
const ALLOWED = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "Unlicense",
];

interface ThirdParty {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly text: string;
}

/**
 * The name, version, licence and notice of every package whose code is part of a bundle, as text.
 *
 * Throws if a package's licence is not one of `ALLOWED`: read it before you add it.
 */
export function thirdPartyLicenses(outputs: readonly RolldownOutput[]): string {
  const folders = new Set(outputs.flatMap(packageFolders));
  const packages = [...folders]
    .map(readPackage)
    .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
  const refused = packages.filter(({ license }) => !ALLOWED.includes(license));
  if (refused.length > 0) {
    const names = refused.map(({ name, license }) => `${name} (${license})`);
    throw new Error(`the licence of these packages is not known here: ${names.join(", ")}`);
  }
  return [
    "Parts of the following packages are contained in dist/. Each is used under its own licence.\n",
    ...packages.map(({ name, version, license }) => `- ${name} ${version} (${license})`),
    ...packages.map(
      ({ name, version, text }) => `\n${"=".repeat(72)}\n${name} ${version}\n\n${text}`,
    ),
    "",
  ].join("\n");
}

function packageFolders({ output }: RolldownOutput): string[] {
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  return modules.flatMap((id) => {
    // bundlers put a mark before what they made of a module
    const match = /^[^/]*(\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id);
    return match?.[1] === undefined ? [] : [match[1]];
  });
}

function readPackage(folder: string): ThirdParty {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) =>
    /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(entry),
  );
  const notice = join(folder, "NOTICE");
  const texts = [
    file === undefined ? inReadme(folder) : readFileSync(join(folder, file), "utf8").trim(),
    ...(existsSync(notice) ? [readFileSync(notice, "utf8").trim()] : []),
  ];
  const text = texts.join("\n\n").trim() || `${license}; the package has no licence text.`;
  return { name: String(name), version: String(version), license: chosenOf(String(license)), text };
}

/** The licence that is used of several to choose from, such as `(MPL-2.0 OR Apache-2.0)`. */
function chosenOf(license: string): string {
  const offered = license.replaceAll(/[()]/g, "").split(" OR ");
  return offered.find((each) => ALLOWED.includes(each)) ?? license;
}

/** Some packages have their licence only at the end of their README; empty if there is none. */
function inReadme(folder: string): string {
  const name = readdirSync(folder).find((entry) => /^readme\.md$/i.test(entry));
  const readme = name === undefined ? "" : readFileSync(join(folder, name), "utf8");
  const [text = ""] = /^#+ licen[cs]e\b[^]*permission is hereby[^]*$/im.exec(readme) ?? [];
  return text.trim();
}

import { readdirSync, readFileSync } from "node:fs";

import { expect, it } from "vitest";

/*
 * The rules that the registry of agents documents for an entry (FORMAT.md and CONTRIBUTING.md of
 * github.com/agentclientprotocol/registry, read in November 2026): required and known members, id, version, distribution
 * and icon.
 */
const FOLDER = new URL("../../deploy/acp-registry/", import.meta.url);
const REQUIRED = ["id", "name", "version", "description", "distribution"];
const OPTIONAL = ["repository", "website", "authors", "license"];

it("[ACP-64] the entry for the registry of agents is one that it takes, of this version", () => {
  const [id = ""] = readdirSync(FOLDER);
  const entry: Record<string, unknown> = JSON.parse(
    readFileSync(new URL(`${id}/agent.json`, FOLDER), "utf8"),
  );
  const own: { name: string; version: string; license: string; bin: object } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  expect(Object.keys(entry)).toEqual(expect.arrayContaining(REQUIRED));
  const others = Object.keys(entry).filter((key) => ![...REQUIRED, ...OPTIONAL].includes(key));
  expect(others).toEqual([]);
  expect(id).toMatch(/^[a-z][a-z0-9-]*$/);
  expect(entry).toMatchObject({ id, version: own.version, license: own.license });
  expect(own.version).toMatch(/^\d+\.\d+\.\d+$/);
  // without `cmd`, npx starts the program of the package's name
  expect(entry["distribution"]).toEqual({
    npx: { package: `${own.name}@${own.version}`, args: ["acp"] },
  });
  expect(Object.keys(own.bin)).toContain(own.name);
});

it("[ACP-64] its icon is square, of 16 pixels, and has the colour of the text around it alone", () => {
  const [id = ""] = readdirSync(FOLDER);
  const icon = readFileSync(new URL(`${id}/icon.svg`, FOLDER), "utf8");
  expect(icon).toMatch(/^<svg [^>]*width="16" height="16" viewBox="0 0 16 16"/);
  const colours = Array.from(icon.matchAll(/(?:fill|stroke)="([^"]*)"/g), ([, colour]) => colour);
  expect(new Set(colours)).toEqual(new Set(["none", "currentColor"]));
  expect(icon).not.toMatch(/<style|style=|<script|href=/);
});

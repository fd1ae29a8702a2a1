import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";
import { parse } from "yaml";

import { createPostgres } from "../helpers/postgres.ts";
import { startProcess } from "../helpers/process.ts";
import { freshHome } from "../helpers/reprise.ts";

// No container runs here: what can break without one is checked, and the commands are run.

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), "utf8");

interface Service {
  readonly build?: string;
  readonly command?: string[];
  readonly environment?: Record<string, string>;
  readonly secrets?: string[];
  readonly volumes?: string[];
  readonly ports?: string[];
  readonly depends_on?: Record<string, { condition: string }>;
  readonly healthcheck?: object;
  readonly read_only?: boolean;
  readonly tmpfs?: string[];
  readonly cap_drop?: string[];
  readonly cap_add?: string[];
  readonly security_opt?: string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
}
interface Compose {
  readonly services: Record<string, Service>;
  readonly secrets: Record<string, { file: string }>;
  readonly volumes: Record<string, unknown>;
}

const compose = parse(read("compose.yaml"), { merge: true }) as Compose;
const dockerfile = read("Dockerfile").replaceAll("\\\n", " ").split("\n");
const caddyfile = read("deploy/Caddyfile");

/** What follows the last occurrence of an instruction. */
function instruction(name: string): string {
  return dockerfile.findLast((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? "";
}

const entrypoint = JSON.parse(instruction("ENTRYPOINT")) as string[];
const command = JSON.parse(instruction("CMD")) as string[];
const check = JSON.parse(/CMD (\[.*\])/.exec(instruction("HEALTHCHECK"))?.[1] ?? "[]") as string[];

it("[OPS-10] the Dockerfile copies only existing files, and all that a node needs", () => {
  const copied = dockerfile.flatMap((line) =>
    line.startsWith("COPY ") && !line.includes("--from") ? line.split(/\s+/).slice(1, -1) : [],
  );
  expect(copied.length).toBeGreaterThan(4);
  const let_in = read(".dockerignore").split("\n");
  for (const path of copied) {
    expect(existsSync(join(root, path)), path).toBe(true);
    expect(let_in, path).toContain(`!${path}`);
  }
  expect(copied).toContain(dirname(entrypoint[1] ?? ""));
  expect(instruction("USER")).toBe("node");
  expect(command).toContain(instruction("EXPOSE"));
  expect(check.join(" ")).toContain(`:${instruction("EXPOSE")}/readyz`);
});

it("[OPS-31] compose.yaml bounds each service, and lets it change and do only what its start needs", () => {
  const figures = Object.entries(compose.services).map(([name, service]) => {
    expect(service.read_only, name).toBe(true);
    expect(service.cap_drop, name).toEqual(["ALL"]);
    expect(service.security_opt, name).toEqual(["no-new-privileges:true"]);
    return [name, service.mem_limit, service.pids_limit, service.cap_add ?? []];
  });
  expect(figures).toEqual([
    ["database", "1g", 256, ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]],
    ["node1", "1g", 128, []],
    ["node2", "1g", 128, []],
    ["balancer", "256m", 128, ["NET_BIND_SERVICE"]],
  ]);
  expect(compose.services["database"]?.tmpfs).toContain("/var/run/postgresql");
  const guide = read("docs/operations.md");
  expect(guide).toContain("a node and the database get 1 GiB of memory each, the balancer 256 MiB");
  expect(guide).toContain("they get 128, 256 and 128 processes and threads");
});

it("[OPS-10] compose.yaml names files, secrets, volumes, services and ports that belong together", () => {
  const nodes = Object.entries(compose.services).filter(([, { build }]) => build === ".");
  expect(nodes.map(([name]) => name)).toEqual(["node1", "node2"]);
  for (const [name, service] of Object.entries(compose.services)) {
    for (const secret of service.secrets ?? []) {
      expect(Object.keys(compose.secrets), name).toContain(secret);
    }
    for (const volume of service.volumes ?? []) {
      const [source = ""] = volume.split(":");
      const isThere = source.startsWith(".")
        ? existsSync(join(root, source))
        : source in compose.volumes;
      expect(isThere, volume).toBe(true);
    }
    for (const other of Object.keys(service.depends_on ?? {})) {
      expect(Object.keys(compose.services)).toContain(other);
    }
    const mounted = new Set((service.secrets ?? []).map((secret) => `/run/secrets/${secret}`));
    const used = [...(service.command ?? []), ...Object.values(service.environment ?? {})].filter(
      (word) => word.startsWith("/run/secrets/"),
    );
    expect(new Set(used), name).toEqual(mounted);
    // a secret in the environment is shown by `docker inspect`
    expect(JSON.stringify(service.environment ?? {})).not.toMatch(/postgres:\/\/|REPRISE_TOKEN"/);
  }
  const port = instruction("EXPOSE");
  for (const [name, { command: words = [] }] of nodes) {
    expect(caddyfile).toContain(`${name}:${port}`);
    expect(words[words.indexOf("--port") + 1]).toBe(port);
    expect(words).toContain(name);
  }
  const [, published, inside] =
    /^127\.0\.0\.1:(\d+):(\d+)$/.exec(compose.services["balancer"]?.ports?.[0] ?? "") ?? [];
  expect(caddyfile).toMatch(new RegExp(`^:${inside} \\{`, "m"));
  expect(nodes[0]?.[1].command).toContain(`localhost:${published}`);
  for (const { file } of Object.values(compose.secrets)) {
    expect(read(".gitignore")).toContain(`/${dirname(file).replace(/^\.\//, "")}/`);
  }
});

it("[OPS-10] the command of a node starts here, healthy by the image's own check", async () => {
  await using database = await createPostgres();
  const home = freshHome();
  const node = compose.services["node1"];
  const secrets: Record<string, string> = {
    reprise_token: "whole",
    metrics_token: "numbers",
    database_address: database.url,
  };
  const local = (word: string): string => {
    const name = /^\/run\/secrets\/(.+)$/.exec(word)?.[1];
    if (name === undefined) {
      return word === instruction("EXPOSE") ? "0" : word;
    }
    writeFileSync(join(home.home, name), `${secrets[name]}\n`);
    return join(home.home, name);
  };
  const env = Object.fromEntries(
    Object.entries(node?.environment ?? {}).map(([name, value]) => [name, local(value)]),
  );
  const words = (node?.command ?? []).map(local);
  expect(entrypoint).toEqual(["node", "bin/reprise.js"]);
  const service = startProcess(process.execPath, [...entrypoint.slice(1), ...words], {
    cwd: root,
    env: { ...env, HOME: home.home, REPRISE_DATABASE: undefined, REPRISE_TOKEN: undefined },
  });
  const [, port = ""] = await service.waitFor(/^listening on http:\/\/0\.0\.0\.0:(\d+)$/m);

  const probe = startProcess(
    process.execPath,
    check.slice(1).map((word) => word.replaceAll(`:${instruction("EXPOSE")}`, `:${port}`)),
  );
  expect(await probe.finished).toMatchObject({ code: 0, stderr: "" });
  const status = async (path: string, token: string): Promise<number> =>
    (
      await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  expect(await status("/api/sessions", "whole")).toBe(200);
  expect(await status("/metrics", "numbers")).toBe(200);
  // the image's own command is the same but for what compose.yaml adds
  expect(words.map(String)).toEqual(expect.arrayContaining(command.map(local)));
});

import http from "node:http";
import { text } from "node:stream/consumers";

import { expect, it } from "vitest";

import { refuseOtherSystems } from "../../../../src/cli/commands/serve/serve-processes.ts";
import { createClient } from "../../../../src/client/client.ts";
import { freshHome } from "../../../helpers/reprise.ts";
import { CTRL_C, openTerminal } from "../../../helpers/terminal.ts";
import {
  isAlive,
  logged,
  SERVICE_TOKEN,
  startTwo,
  until,
} from "../../../helpers/service-processes.ts";

/** On a new connection, which any of the processes may accept. */
async function metricsOf(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${SERVICE_TOKEN}` };
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  http.get(`${url}/metrics`, { agent: false, headers }, resolve).on("error", reject);
  return text(await promise);
}

it("[CLI-183] [CLI-184] [CLI-185] several processes serve one port, one that ends is replaced, and all stop together", async () => {
  const { home, service, url } = await startTwo();
  await service.waitFor(/^version .*\n$/m);
  expect(service.stdout().trimEnd().split("\n")).toHaveLength(3);
  const started = logged(service, "started");
  expect(new Set(started.map((line) => line.process))).toEqual(new Set([1, 2]));
  const labels = new Set<string | undefined>();
  while (labels.size < 2) {
    labels.add(/^process_resident_memory_bytes\{process="(\d)"\}/m.exec(await metricsOf(url))?.[1]);
  }
  expect(labels).toEqual(new Set(["1", "2"]));
  const client = createClient({ baseUrl: url, token: SERVICE_TOKEN });
  const { id } = await client.createSession();
  expect((await home.call(["send", id, "hi", "--follow"])).stdout).toContain("[demo]");

  const again = await home.run(["serve", "--port", new URL(url).port, "--processes", "2"]);
  expect(again).toMatchObject({ code: 1, stdout: "" });

  const [killed] = started;
  process.kill(killed?.pid ?? 0, "SIGKILL");
  await until(() => logged(service, "started").length === 3);
  expect(logged(service, "process_ended")).toMatchObject([
    { level: "error", process: killed?.process, pid: killed?.pid, signal: "SIGKILL" },
  ]);
  const replaced = logged(service, "started").at(-1);
  expect(replaced?.process).toBe(killed?.process);

  expect(await service.stop("SIGTERM")).toMatchObject({ code: 0, signal: null });
  const pids = logged(service, "started").map(({ pid }) => pid);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(logged(service, "stopped")).toHaveLength(2);
});

it("[PAGE-7] on a terminal, one of several processes prints the address that logs in", async () => {
  const env = { REPRISE_MODEL: "demo", REPRISE_TOKEN: SERVICE_TOKEN };
  const terminal = openTerminal(freshHome(), "exec reprise serve --port 0 --processes 2", env);
  await terminal.shows(/^version /m);
  terminal.type(CTRL_C);
  const { code, screen } = await terminal.finished;
  expect(code).toBe(0);
  expect(screen.match(/^page \S+#code=[\w-]{22} /gm)).toHaveLength(1);
});

it("[CLI-185] what one process would refuse is refused once, and so are other systems", async () => {
  const home = freshHome();
  const server = http.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = String(typeof address === "object" ? address?.port : 0);
  const taken = await home.run(["serve", "--port", port, "--processes", "2"]);
  server.close();
  expect(taken).toMatchObject({ code: 1, stdout: "" });
  expect(taken.stderr).toContain("Another program listens on this address");
  const noFile = ["serve", "--port", "0", "--processes", "2", "--token-file", "none"];
  const refused = await home.run(noFile);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr.trim().split("\n")).toHaveLength(1);
  expect((await home.call(["serve", "--processes", "0"])).code).toBe(2);
  expect(() => refuseOtherSystems("darwin")).toThrow("Only Linux");
});

import { expect, it } from "vitest";

import { isAlive, logged, startTwo, until } from "../helpers/service-processes.ts";

it("[CLI-184] processes whose parent is killed stop by themselves", async () => {
  const { service } = await startTwo();
  const pids = logged(service, "started").map(({ pid }) => pid);
  expect(pids).toHaveLength(2);
  process.kill(service.pid, "SIGKILL");
  await until(() => !pids.some(isAlive) && logged(service, "stopping").length === 2);
  expect(logged(service, "stopping")).toMatchObject([
    { signal: "parent_exited" },
    { signal: "parent_exited" },
  ]);
});

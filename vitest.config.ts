import { defineConfig } from "vitest/config";

import { closingLine } from "./test/helpers/closing-line.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    // files wait for processes and sockets more than they compute
    maxWorkers: 3,
    reporters: ["default", closingLine()],
    // real processes, sockets and files: slow machines need room, and no test asserts a time
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { NO_COLOR: "1" },
  },
});

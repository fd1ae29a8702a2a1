import { defineConfig } from "vitest/config";

import { closingLine } from "./test/helpers/closing-line.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    reporters: ["default", closingLine()],
    // real processes, sockets and files: slow machines need room, and no test asserts a time
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { NO_COLOR: "1" },
  },
});

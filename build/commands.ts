import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { COMMANDS_PAGE, commandsPage } from "./commands-page.ts";

/**
 * `npm run commands`: writes the commands and options of the program into `docs/commands.md`. With `--check` it
 * writes nothing, and ends with exit code 1 if the page is another one.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const page = await commandsPage(root);
if (!process.argv.includes("--check")) {
  writeFileSync(join(root, COMMANDS_PAGE), page);
} else if (page !== readFileSync(join(root, COMMANDS_PAGE), "utf8")) {
  console.log(`${COMMANDS_PAGE} is not what the commands are. Run \`npm run commands\`.`);
  process.exitCode = 1;
}

import type { Command } from "commander";

/** Adds the subcommand `list`, which takes `--json`. */
export function addList(parent: Command, about: { readonly list: string; readonly json: string }) {
  return parent.command("list").description(about.list).option("--json", about.json);
}

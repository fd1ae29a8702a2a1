import type { CliContext } from "../../process/context.ts";

export const TRUST_HELP = "for this run, use the personas and the AGENTS.md in the folder";

/** Trusts the project of the working folder in this process, for `--trust`. */
export function trustHere(cli: CliContext, { trust }: { readonly trust?: true }): void {
  if (trust === true) {
    cli.consent = { ...cli.consent, forThisRun: { folder: cli.cwd } };
  }
}

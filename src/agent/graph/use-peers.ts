import { registerHooks, type ResolveHookContext, type ResolveFnOutput } from "node:module";
import { pathToFileURL } from "node:url";

import { RepriseError } from "../../core/errors.ts";
import { packageFile } from "../../core/package-file.ts";

type Next = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

/** Packages that have LangChain's own as dependencies, which may not be seen from the agent's folder. */
const THROUGH: readonly (readonly string[])[] = [
  [],
  ["@langchain/langgraph"],
  ["langchain"],
  ["langchain", "@langchain/langgraph"],
  ["deepagents", "@langchain/langgraph"],
];

/**
 * Until what it returns is disposed of, Reprise's code for graphs of others imports the LangChain packages that the
 * agent's module imports: two copies would have two classes of each message.
 *
 * Error codes of such an import: `graph_unsuitable`.
 */
export function useLangChainOf(file: string): Disposable {
  const ours = ["src/", "dist/agent/"].map((folder) => packageFile(folder).href);
  const agent = pathToFileURL(file).href;
  const hooks = registerHooks({
    resolve: (specifier, context, next: Next) => {
      const { parentURL = "" } = context;
      const isOurs = ours.some((folder) => parentURL.startsWith(folder));
      return isOurs && specifier.startsWith("@langchain/")
        ? resolveFrom(agent, specifier, { context, next })
        : next(specifier, context);
    },
  });
  return { [Symbol.dispose]: () => hooks.deregister() };
}

function resolveFrom(
  agent: string,
  specifier: string,
  { context, next }: { readonly context: ResolveHookContext; readonly next: Next },
): ResolveFnOutput {
  const errors: unknown[] = [];
  for (const packages of THROUGH) {
    try {
      let parentURL = agent;
      for (const name of packages) {
        parentURL = next(name, { ...context, parentURL }).url;
      }
      return next(specifier, { ...context, parentURL });
    } catch (error) {
      errors.push(error);
    }
  }
  throw new RepriseError(
    "graph_unsuitable",
    "The folder of the agent's module has no LangChain. Install @langchain/core and @langchain/langgraph there.",
    { cause: errors[0] },
  );
}

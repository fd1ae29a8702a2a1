import type { JSX } from "preact";

import type { NodeInfo } from "../../src/entries/client.ts";
import { Time } from "../parts/Time.tsx";
import { Command } from "./Command.tsx";
import { valueOf } from "./samples.ts";
import { nodes, samples } from "./watch.ts";

/** The services that run exchanges on this database. */
export function Nodes(): JSX.Element {
  const { value } = nodes.value;
  return (
    <section aria-labelledby="service-nodes">
      <h2 id="service-nodes">Nodes</h2>
      <Jobs />
      {value?.length === 0 ? (
        <Command text="reprise serve">
          No service runs exchanges now: messages wait in the queue. Start one:
        </Command>
      ) : null}
      <ul class="rows">
        {(value ?? []).map((node) => (
          <li key={node.id}>
            <Node node={node} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Only the process that answered counts its jobs. */
function Jobs(): JSX.Element | null {
  const sample = samples.value.value?.at(-1);
  const running = sample === undefined ? null : valueOf(sample, "reprise_jobs");
  const most = sample === undefined ? null : valueOf(sample, "reprise_jobs_max");
  if (sample === undefined) {
    return null;
  }
  return (
    <p class="muted">
      {running === null || most === null
        ? "The process that answers here runs no exchanges."
        : `The process that answers here runs ${running} of at most ${most} exchanges at once.`}
    </p>
  );
}

function Node({ node }: { readonly node: NodeInfo }): JSX.Element {
  const { id, agent, within, trusted, seen_at } = node;
  const folders = within ?? trusted ?? [];
  return (
    <>
      <div>
        <span class="badge good">alive</span> <code>{id.slice(0, 8)}</code>{" "}
        {agent === null ? (
          "the built-in agent"
        ) : (
          <>
            the agent <bdi>{agent}</bdi>
          </>
        )}{" "}
        <span class="muted">
          seen <Time at={seen_at} />
        </span>
      </div>
      <div class="muted">
        {within === null ? "in projects that its user trusts" : "in these folders and below"}
        {folders.length === 0 ? ": none, so it runs sessions without a folder" : ":"}
      </div>
      {folders.length === 0 ? null : (
        <ul class="folders">
          {folders.slice(0, 20).map((folder) => (
            <li key={folder}>
              <bdi>{folder}</bdi>
            </li>
          ))}
          {folders.length > 20 ? <li class="muted">and {folders.length - 20} more</li> : null}
        </ul>
      )}
    </>
  );
}

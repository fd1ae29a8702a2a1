import type { JSX } from "preact";

import { adoptStyle } from "../../adopt-style.ts";
import type { SessionModel } from "../model.ts";
import { style } from "./tasks.css";
import { tasksOf } from "./tasks.ts";

adoptStyle(style);

const MARKS = { done: "✓", running: "▸", pending: "◦" } as const;

/** The agent's to-do list, while something of it is to be done. */
export function Tasks({ model }: { readonly model: SessionModel }): JSX.Element | null {
  void model.version.value;
  const tasks = tasksOf(model);
  const done = tasks.filter(({ state }) => state === "done").length;
  if (done === tasks.length) {
    return null;
  }
  return (
    <details class="tasks" open>
      <summary>
        Tasks of the agent: {done} of {tasks.length} done
      </summary>
      <ul>
        {tasks.map(({ text, state }, at) => (
          <li key={at} class={state}>
            <span aria-hidden="true">{MARKS[state]} </span>
            <bdi>{text}</bdi>
            <span class="visually-hidden"> ({state})</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

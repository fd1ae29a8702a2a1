import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import type { StatInfo } from "../../src/entries/client.ts";
import { adoptStyle } from "../adopt-style.ts";
import { client } from "../api.ts";
import { pageTitle } from "../parts/attention.ts";
import { Link } from "../parts/Link.tsx";
import { useRead } from "../parts/use-call.tsx";
import { changeQuery, query } from "../route.ts";
import { BY, type By, countText, dollarsText, SINCE, sinceOf, totalOf } from "./costs-text.ts";
import { style } from "./costs.css";

adoptStyle(style);

/** What models have read and written for all sessions, and what it cost: a table with a bar for each row. */
export function Costs(): JSX.Element {
  useEffect(() => {
    pageTitle.value = "Costs";
  }, []);
  const by = BY.find(({ value }) => value === query.value.get("by"))?.value ?? "day";
  const since = query.value.get("since") ?? "";
  const read = () => client.getStats({ by, ...sinceOf(since, new Date()) });
  const { value, problem } = useRead<Shown | null>(
    async () => ({ by, stats: await read() }),
    null,
    [by, since],
  );
  return (
    <>
      <h1>What it cost</h1>
      <div class="costs-choice">
        <Choice name="by" label="By" value={by} choices={BY} />
        <Choice name="since" label="Since" value={since} choices={SINCE} />
      </div>
      {problem}
      {value === null && problem === null ? <p class="muted">Reading …</p> : null}
      {value === null ? null : <Table {...value} />}
      <p class="muted">
        Of all sessions, the archived ones too; those of deleted sessions are gone. Days are those
        of UTC, and a session has the requests of its sub-agents.
      </p>
    </>
  );
}

interface Shown {
  readonly by: By;
  readonly stats: readonly StatInfo[];
}

function Choice(props: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly text: string }[];
}): JSX.Element {
  const { name, label, value, choices } = props;
  return (
    <label>
      {label}{" "}
      <select
        value={value}
        onChange={({ currentTarget }) => changeQuery({ [name]: currentTarget.value })}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Table({ by, stats }: Shown): JSX.Element {
  if (stats.length === 0) {
    return <p>No model was asked.</p>;
  }
  const amountOf = barAmount(stats);
  const most = Math.max(...stats.map(amountOf));
  return (
    <table class="costs">
      <thead>
        <tr>
          <th scope="col">{BY.find(({ value }) => value === by)?.text}</th>
          <th scope="col" class="amount wide">
            Requests
          </th>
          <th scope="col" class="amount">
            Input
          </th>
          <th scope="col" class="amount wide">
            Cached
          </th>
          <th scope="col" class="amount">
            Output
          </th>
          <th scope="col" class="amount">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {stats.map((stat) => (
          <tr key={stat.key}>
            <th scope="row">
              <Name by={by} stat={stat} />
              <Bar share={most === 0 ? 0 : amountOf(stat) / most} />
            </th>
            <Amounts {...stat} />
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Total</th>
          <Amounts {...totalOf(stats)} />
        </tr>
      </tfoot>
    </table>
  );
}

/** What bars show: the cost, or the tokens if no price is known. */
function barAmount(stats: readonly StatInfo[]): (stat: StatInfo) => number {
  return stats.some(({ cost_micros }) => cost_micros !== null)
    ? ({ cost_micros }) => cost_micros ?? 0
    : ({ input, output }) => (input ?? 0) + (output ?? 0);
}

function Name({ by, stat }: { readonly by: By; readonly stat: StatInfo }): JSX.Element {
  const { key, title } = stat;
  if (by === "session" && key !== null) {
    return (
      <Link to={`/sessions/${key}`}>
        <bdi>{title ?? key.slice(0, 8)}</bdi>
      </Link>
    );
  }
  return <bdi>{key ?? "no folder"}</bdi>;
}

function Bar({ share }: { readonly share: number }): JSX.Element {
  return (
    <svg class="costs-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect width={share * 100} height="1" />
    </svg>
  );
}

type AmountsProps = Omit<StatInfo, "key" | "title">;

function Amounts(props: AmountsProps): JSX.Element {
  const { calls, input, cached, output, cost_micros, unknown_calls } = props;
  return (
    <>
      <td class="amount wide">{countText(calls)}</td>
      <td class="amount">{countText(input)}</td>
      <td class="amount wide">{countText(cached)}</td>
      <td class="amount">{countText(output)}</td>
      <td class="amount">{dollarsText(cost_micros, unknown_calls)}</td>
    </>
  );
}

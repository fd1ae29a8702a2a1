import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import type { ModelChoice } from "../../src/core/model-settings.ts";
import { baseline } from "../../src/store/engines/migrations/0001-baseline.ts";
import { latestVersion } from "../../src/store/engines/migrations/history.ts";
import { sqliteDialect } from "../../src/store/engines/sqlite/dialect.ts";
import { openSqliteStore } from "../../src/store/engines/sqlite/open.ts";
import { importTree } from "../../src/store/portable/import-tree.ts";
import { exportText } from "../../src/store/portable/export-text.ts";
import { parseExport } from "../../src/store/portable/parse.ts";
import { readSessionTree } from "../../src/store/portable/read-tree.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { setModelSettings } from "../../src/store/records/sessions/model-settings.ts";
import { readSession } from "../../src/store/records/sessions/read.ts";
import { describeEngines, openFresh } from "../helpers/engines.ts";
import { readTables } from "../helpers/older-database.ts";
import { temporaryFolder } from "../helpers/temp.ts";

describeEngines("effort, cache and fallback of a session", (engine) => {
  it("[EFFORT-5] [FALLBACK-7] are stored, changed one by one and taken along by an export", async () => {
    const store = await openFresh(engine);
    const { id } = await store.write(createSession, { effort: "low" });
    const set = (settings: Partial<ModelChoice>) => store.write(setModelSettings, { id, settings });
    expect(await set({ cache: "1h" })).toMatchObject({ effort: "low", cache: "1h" });
    expect(await set({ effort: null })).toMatchObject({ effort: null, cache: "1h" });
    await set({ effort: "max" });
    const fallback = ["openai:gpt-6.1-sol", "ollama:qwen3"];
    expect(await set({ fallback })).toMatchObject({ effort: "max", fallback });

    const tree = await store.read(readSessionTree, { id });
    const text = [...exportText(tree, "2026-01-01T00:00:00.000Z")].join("");
    const other = await openFresh(engine);
    await importTree(other, parseExport(text));
    const imported = await other.read(readSession, { id });
    expect(imported).toMatchObject({ effort: "max", cache: "1h", fallback });
    expect(await other.write(setModelSettings, { id, settings: { fallback: [] } })).toMatchObject({
      fallback: [],
    });
  });
});

it("[EFFORT-5] [UPGRADE-1] a database of version 1 is upgraded, and its sessions choose nothing", async () => {
  const path = join(temporaryFolder(), "reprise.db");
  const raw = new DatabaseSync(path);
  baseline.statements(sqliteDialect).forEach((statement) => raw.exec(statement));
  const id = "00000000-0000-4000-8000-000000000001";
  raw.prepare("INSERT INTO sessions (id, root_session_id) VALUES (?1, ?1)").run(id);
  // "rprs" in the file's header
  raw.exec("PRAGMA user_version = 1; PRAGMA application_id = 1919971955");
  raw.close();
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  expect(await store.read(readSession, { id })).toMatchObject({
    effort: null,
    cache: null,
    fallback: null,
  });
  expect(readTables(path)).toMatchObject({ version: latestVersion(), sessions: 1 });
});

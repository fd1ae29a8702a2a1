import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { placeHistory } from "../../helpers/foreign-histories.ts";
import { freshHome } from "../../helpers/reprise.ts";

it("[FOREIGN-44] [PROJECT-3] [PROJECT-4] a session has the repository of its folder, and none if that is gone", async () => {
  const home = freshHome();
  const other = join(home.home, "other");
  for (const folder of [home.project, other]) {
    mkdirSync(join(folder, ".git"), { recursive: true });
    const config = '[remote "origin"]\n\turl = git@example.com:ada/tool.git\n';
    writeFileSync(join(folder, ".git/config"), config);
  }
  const file = placeHistory("pi", home);
  await home.call(["sessions", "import", "--from", "pi", file]);
  const gone = readFileSync(file, "utf8").replace(/"id":"[^"]*"/, '"id":"gone"');
  writeFileSync(file, gone.replaceAll(home.project, join(home.project, "gone")));
  await home.call(["sessions", "import", "--from", "pi", file]);
  const listed = await home.json<{ repo_path: string; project_id: string | null }[]>([
    "sessions",
    "list",
    "--json",
  ]);
  const projects = listed.map(({ repo_path, project_id }) => [repo_path, project_id]);
  expect(Object.fromEntries(projects)).toEqual({
    [home.project]: expect.stringMatching(/^[\da-f]{16}$/),
    [join(home.project, "gone")]: null,
  });
  const found = await home.call(["--continue", "--any", "-p", "hi"], { cwd: other });
  expect(found.stderr).toContain(`in ${home.project}. To continue it there, `);
});

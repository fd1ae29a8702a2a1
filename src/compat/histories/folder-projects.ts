import { stat } from "node:fs/promises";

import { type Project, projectOfFolder } from "../../store/project-id.ts";
import { projectKeyOf } from "../../store/project-key.ts";

/** Projects of the folders of histories, each found once. */
export class FolderProjects {
  readonly #projects = new Map<string, Promise<Project>>();

  /** Returns how the sessions of a folder are found; a folder that is gone is in no repository. Never fails. */
  of(folder: string): Promise<Project> {
    const found = this.#projects.get(folder) ?? projectOf(folder);
    this.#projects.set(folder, found);
    return found;
  }
}

async function projectOf(folder: string): Promise<Project> {
  const found = await stat(folder).catch(() => null);
  return found?.isDirectory() === true
    ? projectOfFolder(folder)
    : { project_key: await projectKeyOf(folder), project_id: null };
}

import { isFolder } from "../../workspace/files/is-folder.ts";
import { wrongUsage } from "../process/wrong-usage.ts";

/** Error codes: `invalid_usage` if the path, which the person calls so, leads to no folder. */
export async function refuseNoFolder(path: string, name: string): Promise<void> {
  if (!(await isFolder(path))) {
    throw wrongUsage(`${name} does not exist; check its path.`);
  }
}

/** The user's own folder. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * HOME, or what the system knows where that is empty or relative: never a folder below the working folder. Null where
 * there is none: a container may run as a user that it does not list.
 */
export function homeFolder(env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  if (env.HOME !== undefined && isAbsolute(env.HOME)) return env.HOME;
  for (const known of [homedir, () => userInfo().homedir]) {
    try {
      const folder = known();
      if (isAbsolute(folder)) return folder;
    } catch {
      // The system does not list this user.
    }
  }
  return null;
}

import { type BuiltConsole, type ConsoleFile, readBuiltConsole } from './read-built-console.ts'

/** The newest build of the console. */
export type Console = {
  /** The page, with placeholders for its nonce. Null while nothing is built. */
  page(): Promise<string | null>
  file(path: string): Promise<ConsoleFile | null>
}

/** Follows the builds in a directory, which may appear and be replaced while the server runs. */
export function openConsole(directory: string): Console {
  let built: BuiltConsole | null = null
  let previous: BuiltConsole | null = null
  let reading: Promise<void> | undefined

  const readNewer = async () => {
    const newer = await readBuiltConsole(directory, built?.stamp)
    if (newer === null) return
    previous = built
    built = newer
  }
  const refresh = () => {
    reading ??= readNewer().finally(() => {
      reading = undefined
    })
    return reading
  }
  // Open pages load parts of the build before, until people load them again.
  const find = (path: string) => built?.files.get(path) ?? previous?.files.get(path) ?? null

  return {
    async page() {
      await refresh()
      return built?.page ?? null
    },
    async file(path) {
      const known = find(path)
      if (known !== null) return known
      await refresh()
      return find(path)
    },
  }
}

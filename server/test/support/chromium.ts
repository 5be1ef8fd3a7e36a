import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const MISSING =
  'These tests need Chromium: install it with "apt-get install chromium", or set ' +
  'SHIPLOCK_TEST_CHROMIUM to the path of the program.'

/** Path of Chromium. Throws a message that says how to install it. */
export async function findChromium(): Promise<string> {
  const given = process.env.SHIPLOCK_TEST_CHROMIUM
  const directories = (process.env.PATH ?? '').split(delimiter)
  const paths = given ? [given] : NAMES.flatMap((name) => directories.map((directory) => join(directory, name)))
  for (const path of paths) {
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isProgram) return path
  }
  throw new Error(MISSING)
}

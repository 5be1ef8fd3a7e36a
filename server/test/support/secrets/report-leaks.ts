import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { findLeaks, type Secret } from './find-leaks.ts'

/**
 * Searches the collected logs, and further log files, for the secrets that all tests have made.
 * Prints each leak, and returns their number.
 */
export async function reportLeaks(directory: string, otherLogs: readonly string[]): Promise<number> {
  const names = await readdir(directory)
  const secrets = await readSecrets(
    names.filter((name) => name.endsWith('.secrets')).map((name) => join(directory, name)),
  )
  const logs = [...names.filter((name) => name.endsWith('.log')).map((name) => join(directory, name)), ...otherLogs]
  let leaks = 0
  let bytes = 0
  for (const log of logs) {
    const text = await readFile(log, 'utf8')
    bytes += text.length
    for (const { kind, line } of findLeaks(text, secrets)) {
      leaks += 1
      console.error(`A log contains a secret (${kind}) in ${basename(log)}: ${line}`)
    }
  }
  const megabytes = (bytes / 2 ** 20).toFixed(1)
  console.error(`Searched ${logs.length} logs (${megabytes} MiB) for ${secrets.length} secrets: ${leaks} leaks`)
  return leaks
}

async function readSecrets(files: string[]): Promise<Secret[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  return texts.flatMap((text) => text.split('\n').filter(Boolean)).map((line) => JSON.parse(line))
}

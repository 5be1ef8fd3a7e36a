import { readFileSync } from 'node:fs'

/**
 * Reads the variables that are given as files: `DATABASE_URL_FILE=/run/secrets/database-url` sets
 * `DATABASE_URL`. Docker, Kubernetes and systemd hand out secrets like this, and a file is not
 * inherited by other processes.
 */
export function readSecretFiles(env: NodeJS.ProcessEnv, names: readonly string[]) {
  const values: Record<string, string> = {}
  const mistakes: string[] = []
  for (const name of names) {
    const path = env[`${name}_FILE`]?.trim()
    if (!path) continue
    if (env[name]?.trim()) mistakes.push(`${name} and ${name}_FILE are both set; set only one of them`)
    else values[name] = readSecretFile(`${name}_FILE`, path, mistakes)
  }
  return { values, mistakes }
}

function readSecretFile(variable: string, path: string, mistakes: string[]): string {
  try {
    const text = readFileSync(path, 'utf8').trim()
    if (text === '') mistakes.push(`${variable}: the file ${path} is empty`)
    return text
  } catch (error) {
    mistakes.push(`${variable}: the file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return ''
  }
}

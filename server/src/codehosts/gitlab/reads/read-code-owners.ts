import type { HostReader } from '../../code-host.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'
import { textOfFile } from './project-reads.ts'

/** GitLab uses the first file that exists. */
const PATHS = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS']

/**
 * The file, if all of it means the same at GitHub, whose syntax is the one that is read. Null for a
 * file with sections, roles, exclusions, or paths that are relative at GitLab only.
 */
export function readCodeOwners({ api }: Session): HostReader['readCodeOwners'] {
  return async (repository, commitSha) => {
    for (const path of PATHS) {
      const file = restPath`/repository/files/${path}`
      const found = await api.read(`${projectPath(repository)}${file}`, { ref: commitSha })
      const text = found && api.parseItem(found, textOfFile)
      if (text === null) continue
      return hasOneMeaning(text) ? { path, text } : null
    }
    return null
  }
}

export function hasOneMeaning(text: string): boolean {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim())
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'))
  return rules.every((line) => {
    const [pattern = '', ...owners] = line.split(/(?<!\\)\s+/)
    const isSection = /^\^?\[/.test(line)
    const isRelative = /^[^/*].*\/./.test(pattern)
    return !isSection && !isRelative && !pattern.startsWith('!') && !owners.some((owner) => owner.startsWith('@@'))
  })
}

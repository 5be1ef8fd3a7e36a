import { Type } from 'typebox'
import { HOUR_MS } from '../../../platform/clock.ts'
import type { HostReader } from '../../code-host.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { Remembered } from '../../kit/remembered.ts'
import type { GitlabApi } from '../client/gitlab-api.ts'
import { projectPath, type Session } from '../client/session.ts'
import { parseMergedConfig } from '../objects/merged-config.parser.ts'

const Lint = Type.Object({ merged_yaml: Maybe(Text) })

/**
 * GitLab resolves includes, templates and `extends` itself. Servers before 16.5 always answer for
 * the default branch, so they are not asked. The newer name of `sha` is not known to all.
 */
export function readWorkflow({ api, clock }: Session): NonNullable<HostReader['readWorkflow']> {
  const known = new Remembered({ read: () => readsCommits(api), clock, ageMsMax: HOUR_MS })
  return async (repository, { commit_sha: sha }) => {
    if (!(await known.get(''))) return null
    const found = await api.read(`${projectPath(repository)}/ci/lint`, { sha })
    const merged = found && api.parseItem(found, (value) => readAs(Lint, value).merged_yaml ?? null)
    return merged === null ? null : parseMergedConfig(merged)
  }
}

const Version = Type.Object({ version: Text })

async function readsCommits(api: GitlabApi): Promise<boolean> {
  const found = await api.read('/version')
  const [major = 0, minor = 0] = found === null ? [] : readAs(Version, found).version.split('.').map(Number)
  return major > 16 || (major === 16 && minor >= 5)
}

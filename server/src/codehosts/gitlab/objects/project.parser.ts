import { Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import type { ConnectedAccount } from './connected-account.parser.ts'

export const Project = Type.Object({
  id: Id,
  path_with_namespace: Type.String({ pattern: '^[^/]+/.+' }),
  default_branch: Maybe(Text),
  web_url: Maybe(Text),
  visibility: Maybe(Text),
  archived: Maybe(Type.Boolean()),
  updated_at: Maybe(Timestamp),
})

/** GitLab's own default for projects without a first commit. */
const DEFAULT_BRANCH = 'main'

/** Null if the project is outside the connected account. */
export function parseProject(value: unknown, account: ConnectedAccount, host: string): HostRepository | null {
  const project = readAs(Project, value)
  const path = project.path_with_namespace
  if (!path.toLowerCase().startsWith(`${account.login.toLowerCase()}/`)) return null
  return {
    provider: 'gitlab',
    host,
    id: String(project.id),
    full_name: path,
    owner_id: account.id,
    default_branch: textOrNull(project.default_branch) ?? DEFAULT_BRANCH,
    html_url: textOrNull(project.web_url),
    // `internal` projects are open to everyone who is signed in, so not public.
    private: project.visibility !== 'public',
    archived: project.archived ?? false,
    updated_at: dateOrNull(project.updated_at),
  }
}

const Settings = Type.Object({
  ci_config_path: Maybe(Text),
  merge_trains_enabled: Maybe(Type.Boolean()),
  only_allow_merge_if_pipeline_succeeds: Maybe(Type.Boolean()),
  only_allow_merge_if_all_status_checks_passed: Maybe(Type.Boolean()),
})

export type ProjectSettings = {
  /** Null if the file is in another project or at another address. */
  ci_config_path: string | null
  merge_trains: boolean
  needs_pipeline: boolean
  needs_status_checks: boolean
}

const CONFIG_PATH = '.gitlab-ci.yml'

export function parseProjectSettings(value: unknown): ProjectSettings {
  const settings = readAs(Settings, value)
  const path = textOrNull(settings.ci_config_path) ?? CONFIG_PATH
  return {
    ci_config_path: /[@:]/.test(path) ? null : path,
    merge_trains: settings.merge_trains_enabled ?? false,
    needs_pipeline: settings.only_allow_merge_if_pipeline_succeeds ?? false,
    needs_status_checks: settings.only_allow_merge_if_all_status_checks_passed ?? false,
  }
}

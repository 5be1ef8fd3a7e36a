import type { HostReader } from '../../../code-host.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { BitbucketApi } from '../client.ts'
import { parseBranchRestrictions } from '../branch-rules.ts'
import { parseBuildStatus } from '../objects/check.parser.ts'

type ChangeReads = Pick<HostReader, 'listPushes' | 'listChecks' | 'readBranchRules' | 'readCodeOwners'>

export function changeReads(api: BitbucketApi): ChangeReads {
  return {
    /** Bitbucket lists no pushes: its webhooks alone report them. */
    listPushes: async () => ({ items: [], next: null, etag: null }),

    listChecks: (repository, commitSha) =>
      api.readAll({ path: api.pathOf(repository, restPath`/commit/${commitSha}/statuses`) }, (status) =>
        parseBuildStatus(status, repository, commitSha),
      ),

    /** Restrictions are read by administrators only. */
    async readBranchRules(repository, branch) {
      const found = await api.readList({ path: api.pathOf(repository, '/branch-restrictions') })
      if (found === null) return null
      const model = await api.read(api.pathOf(repository, '/effective-branching-model'))
      return api.parseItem(found.values, () => parseBranchRestrictions(found.values, branch, model))
    },

    /** Default reviewers are asked for every pull request; they do not own paths. */
    readCodeOwners: async () => null,
  }
}

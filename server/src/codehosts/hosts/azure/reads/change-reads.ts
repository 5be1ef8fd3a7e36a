import { Type } from 'typebox'
import type { HostReader } from '../../../code-host.ts'
import type { HostRepository } from '../../../host-repository.ts'
import type { HostCheck } from '../../../host-run.ts'
import { Maybe, readAs, Text, textOrNull } from '../../../kit/payload.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { branchRulesOf, parsePolicy, requiredPipelines } from '../branch-rules.ts'
import { AZURE_REPOS, commitOf, isOf, parseBuild } from '../runs.ts'
import { checkOfBuild, parseStatus } from '../objects/check.parser.ts'

type ChangeReads = Pick<HostReader, 'listChecks' | 'readBranchRules' | 'readCodeOwners'>

/** Builds cannot be listed by commit. Those of a commit are among the newest. */
const BUILDS_MAX = 200
const STATUSES_MAX = 1000

export function changeReads(api: AzureApi): ChangeReads {
  return {
    /** The newest build of each pipeline, and the newest statuses of other services. */
    async listChecks(repository, commitSha) {
      const project = await api.projectOf(repository)
      if (project === null) return []
      const path = restPath`/${project}/_apis/git/repositories/${repository.id}/commits/${commitSha}/statuses`
      const statuses = await api.readAll({ path, query: { top: STATUSES_MAX, latestOnly: true } }, (status) =>
        parseStatus(status, repository, commitSha),
      )
      return [...(await listBuilds(api, project, repository, commitSha)), ...statuses]
    },

    /** Without a policy, permissions can still protect the branch. They are not read. */
    async readBranchRules(repository, branch) {
      const project = await api.projectOf(repository)
      const path = project && restPath`/${project}/_apis/git/policy/configurations`
      const query = { repositoryId: repository.id, refName: `refs/heads/${branch}` }
      const list = path && (await api.readList({ path, query }))
      const policies = list ? api.parseItems(list.values, parsePolicy) : []
      if (!project || policies.length === 0) return null
      const names = requiredPipelines(policies).map((id) => pipelineName(api, project, id))
      return branchRulesOf(policies, await Promise.all(names))
    },

    /** Azure DevOps has no file of owners. */
    readCodeOwners: async () => null,
  }
}

async function listBuilds(
  api: AzureApi,
  project: string,
  repository: HostRepository,
  commitSha: string,
): Promise<HostCheck[]> {
  const query = {
    repositoryId: repository.id,
    repositoryType: AZURE_REPOS,
    queryOrder: 'queueTimeDescending',
    $top: BUILDS_MAX,
  }
  const page = await api.readPage({ path: restPath`/${project}/_apis/build/builds`, query }, null)
  const builds = api
    .parseItems(page?.values ?? [], parseBuild)
    .filter((build) => isOf(build, repository) && commitOf(build) === commitSha)
  const newest = new Map(builds.reverse().map((build) => [build.definition?.id, build]))
  return [...newest.values()].map((build) => checkOfBuild(build, repository, commitSha))
}

const Definition = Type.Object({ name: Maybe(Text) })

/** The number stands for a pipeline that may not be read. */
async function pipelineName(api: AzureApi, project: string, id: number): Promise<string> {
  const definition = await api.read({ path: restPath`/${project}/_apis/build/definitions/${id}` })
  return (definition === null ? null : textOrNull(readAs(Definition, definition).name)) ?? String(id)
}

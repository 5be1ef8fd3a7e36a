import { commitsBetween } from '../../hosts/history.ts'
import { found, HttpError } from '../../hosts/http-error.ts'
import { ok, type Routes } from '../../hosts/rest-request.ts'
import { basicOf } from '../../hosts/tokens.ts'
import type { Json } from '../../json.ts'
import { anyWorkspaceOf, type Bitbucket, type Caller, hashOf, page, type Request, repositoryOf } from '../api.ts'
import { braced, commitJson, repositoryJson, workspaceJson } from '../shapes.ts'

const REPOSITORY = '/2.0/repositories/{workspace}/{repo_slug}'
const TOKEN_SECONDS = 7200

/** Workspaces, repositories, their commits, files and branches. */
export function repositoryRoutes(bitbucket: Bitbucket): Routes<Caller> {
  const { world } = bitbucket
  return {
    'POST /site/oauth2/access_token': ({ headers, body }) => {
      const basic = basicOf(headers.authorization)
      if (basic === null || body?.grant_type !== 'client_credentials') throw new HttpError(400, 'Invalid request')
      const client = bitbucket.tokens.clientOf(basic.user, basic.password)
      const { value } = bitbucket.tokens.issue(client.owner, TOKEN_SECONDS)
      return ok({ access_token: value, token_type: 'bearer', expires_in: TOKEN_SECONDS, scopes: 'pipeline' })
    },
    'GET /2.0/workspaces/{workspace}': (request) => ok(workspaceJson(anyWorkspaceOf(bitbucket, request))),
    'GET /2.0/repositories/{workspace}': (request) => {
      const workspace = anyWorkspaceOf(bitbucket, request)
      const shown = world.repositoriesOf(workspace).filter((one) => workspace === request.caller || !one.private)
      return page(bitbucket, request, shown.map(repositoryJson))
    },
    [`GET ${REPOSITORY}`]: (request) => ok(repositoryJson(repositoryOf(bitbucket, request))),
    [`GET ${REPOSITORY}/commit/{commit}`]: (request) => {
      const repository = repositoryOf(bitbucket, request)
      const commit = found(repository.commits.get(hashOf(repository, request.params.commit as string)))
      const json = commitJson(repository, commit)
      return ok(request.query.get('fields') === 'hash' ? { hash: json.hash } : json)
    },
    [`GET ${REPOSITORY}/commits`]: (request) => listCommits(bitbucket, request, request.query.get('include') ?? ''),
    [`GET ${REPOSITORY}/commits/{revision}`]: (request) =>
      listCommits(bitbucket, request, request.params.revision as string),
    [`GET ${REPOSITORY}/refs/branches/{name+}`]: (request) => {
      const repository = repositoryOf(bitbucket, request)
      const name = request.params.name as string
      const commit = found(repository.commits.get(found(repository.refs.get(`refs/heads/${name}`))))
      return ok({ type: 'branch', name, target: commitJson(repository, commit) })
    },
    [`GET ${REPOSITORY}/src/{commit}/{path+}`]: (request) => readSource(bitbucket, request),
    [`GET ${REPOSITORY}/environments`]: (request) =>
      page(
        bitbucket,
        request,
        [...repositoryOf(bitbucket, request).environments.values()].map(({ uuid, name }) => ({
          type: 'deployment_environment',
          uuid: braced(uuid),
          name,
        })),
      ),
  }
}

/** Newest first: those of a branch or commit without those of `exclude`. */
function listCommits(bitbucket: Bitbucket, request: Request, revision: string) {
  const repository = repositoryOf(bitbucket, request)
  const head = repository.refs.get(`refs/heads/${revision}`) ?? hashOf(repository, revision)
  const commits = commitsBetween(repository, request.query.get('exclude'), head).reverse()
  return page(
    bitbucket,
    request,
    commits.map((commit) => commitJson(repository, commit)),
    { pagelenDefault: 30 },
  )
}

function readSource(bitbucket: Bitbucket, request: Request) {
  const repository = repositoryOf(bitbucket, request)
  const commit = found(repository.commits.get(hashOf(repository, request.params.commit as string)))
  const path = request.params.path as string
  const text = commit.files.get(path)
  if (text !== undefined) return { status: 200, text }
  const folder = path.endsWith('/') ? path : `${path}/`
  const inside = [...commit.files.keys()].filter((file) => file.startsWith(folder))
  if (inside.length === 0) throw new HttpError(404, `No such file or directory: ${path}`)
  const files = inside.filter((file) => !file.slice(folder.length).includes('/'))
  const entries = files.map((file): Json => ({ type: 'commit_file', path: file, commit: { hash: commit.sha } }))
  return page(bitbucket, request, entries)
}

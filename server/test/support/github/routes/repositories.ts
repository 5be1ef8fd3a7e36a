import { refOf } from '../../hosts/history.ts'
import { found, HttpError } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import type { OperationName } from '../described.ts'
import { activityObject, activityType } from '../objects/activity.ts'
import { wholeInstallation } from '../objects/app.ts'
import { branchRules } from '../objects/branch-rules.ts'
import { blobSha } from '../objects/commit.ts'
import { fullRepository } from '../objects/repository.ts'
import { apiUrl, pageUrl } from '../objects/urls.ts'
import { cursorList, listOf } from '../pagination.ts'
import type { GitHubRequest, Handler } from '../request.ts'
import { commitOf } from './commits.ts'

/** A repository, its files, rules and activities. */
export const repositoryRoutes = {
  'GET /repos/{owner}/{repo}': ({ world, repository }) => ok(fullRepository(world, repository)),
  'GET /repos/{owner}/{repo}/installation': ({ world, repository }) =>
    ok(wholeInstallation(world, world.app, found(world.installationOf(repository)))),
  'GET /repos/{owner}/{repo}/rules/branches/{branch}': (request) =>
    listOf(request, branchRules(request.repository, request.text('branch')), (rule) => rule),
  'GET /repos/{owner}/{repo}/activity': listActivities,
  'GET /repos/{owner}/{repo}/contents/{path}': readContents,
  'GET /repos/{owner}/{repo}/git/blobs/{file_sha}': readBlob,
} satisfies Partial<Record<OperationName, Handler>>

const DAYS = { day: 1, week: 7, month: 30, quarter: 91, year: 365 }

function listActivities(request: GitHubRequest) {
  const { world, repository, query } = request
  const ref = query.get('ref')
  const type = query.get('activity_type')
  const period = query.get('time_period') as keyof typeof DAYS | null
  const since = period === null ? 0 : world.now().getTime() - DAYS[period] * 86_400_000
  const listed = repository.pushes
    .filter((one) => (ref === null || one.ref === refOf(ref)) && (type === null || activityType(one) === type))
    .filter(({ at }) => at.getTime() >= since)
  if (query.get('direction') !== 'asc') listed.reverse()
  return cursorList(request, listed, { parameter: 'after', show: (one) => activityObject(world, one) })
}

/** A file with its text, or the entries of a folder. */
function readContents(request: GitHubRequest) {
  const { repository, query } = request
  const { files } = commitOf(request, query.get('ref') ?? repository.default_branch)
  const path = request.text('path')
  const text = files.get(path)
  if (text !== undefined) {
    const content = Buffer.from(text).toString('base64')
    return ok({ ...entryOf(request, path, text), encoding: 'base64', content })
  }
  const below = [...files].filter(([name]) => name.startsWith(`${path}/`))
  if (below.length === 0) throw new HttpError(404, 'Not Found')
  const names = new Set(below.map(([name]) => name.slice(path.length + 1).split('/')[0] as string))
  return ok([...names].sort().map((name) => entryOf(request, `${path}/${name}`, files.get(`${path}/${name}`) ?? null)))
}

function entryOf({ world, repository, query }: GitHubRequest, path: string, text: string | null) {
  const ref = query.get('ref') ?? repository.default_branch
  const sha = blobSha(text ?? path)
  const url = `${apiUrl(world, repository)}/contents/${path}?ref=${ref}`
  const git_url = `${apiUrl(world, repository)}/git/${text === null ? 'trees' : 'blobs'}/${sha}`
  const html_url = `${pageUrl(world, repository)}/${text === null ? 'tree' : 'blob'}/${ref}/${path}`
  return {
    type: text === null ? 'dir' : 'file',
    size: text === null ? 0 : Buffer.byteLength(text),
    name: path.split('/').at(-1),
    path,
    sha,
    url,
    git_url,
    html_url,
    download_url: text === null ? null : `https://raw.githubusercontent.com/${repository.id}/${ref}/${path}`,
    _links: { self: url, git: git_url, html: html_url },
  }
}

function readBlob(request: GitHubRequest) {
  const { repository, world } = request
  const sha = request.text('file_sha')
  const text = found(
    [...repository.commits.values()].flatMap(({ files }) => [...files.values()]).find((one) => blobSha(one) === sha),
  )
  const content = Buffer.from(text).toString('base64')
  const url = `${apiUrl(world, repository)}/git/blobs/${sha}`
  return ok({ sha, node_id: `B_${sha}`, size: Buffer.byteLength(text), url, content, encoding: 'base64' })
}

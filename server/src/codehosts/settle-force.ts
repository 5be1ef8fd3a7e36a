import type { HostReader } from './code-host.ts'
import type { HostPush, ToldPush } from './host-change.ts'

/** Finds out whether a push replaced commits, if its host does not say it. */
export async function settleForce(client: Pick<HostReader, 'compareCommits'>, push: ToldPush): Promise<HostPush> {
  return { ...push, forced: push.forced ?? (await replacesCommits(client, push)) }
}

/** Commits of the former head are then not part of the new one. */
async function replacesCommits(
  client: Pick<HostReader, 'compareCommits'>,
  { repository, before, after }: ToldPush,
): Promise<boolean> {
  if (before === null || after === null) return false
  const replaced = await client.compareCommits(repository, after, before)
  return replaced !== null && replaced.commits.length > 0
}

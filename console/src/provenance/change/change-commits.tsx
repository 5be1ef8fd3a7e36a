import { Code, Group, Stack, Text } from '@mantine/core'
import { IconHelpCircle, IconShieldCheck, IconShieldOff } from '@tabler/icons-react'
import { PersonName, StatusBadge, ToneBadge } from '../../page/badges.tsx'
import { ExternalLink, Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { Section } from '../../page/sections.tsx'
import { type Change, shortSha } from '../facts/change-words.ts'
import classes from '../facts/rows.module.css'

type Commit = Change['commits']['list'][number]

/** The commits of the change, oldest first, with what the code host states of their signatures. */
export function ChangeCommits({ change: { commits } }: { change: Change }) {
  return (
    <Section title="Commits" count={commits.list.length}>
      {!commits.complete && (
        <Text size="sm" c="dimmed">
          The code host did not list all commits.
        </Text>
      )}
      <Stack component="ul" gap={0} className={classes.rows}>
        {commits.list.map((commit) => (
          <li key={commit.sha} className={classes.row}>
            <Group gap="sm">
              <Code title={commit.sha}>{shortSha(commit.sha)}</Code>
              <PersonName name={commit.author.login ?? commit.author.name} />
              {commit.sha === commits.merge && (
                <Text size="sm" c="dimmed">
                  Landed
                </Text>
              )}
            </Group>
            <Signature signature={commit.signature} />
          </li>
        ))}
      </Stack>
    </Section>
  )
}

function Signature({ signature }: Pick<Commit, 'signature'>) {
  if (signature === null)
    return (
      <ToneBadge tone="neutral" icon={IconHelpCircle}>
        Signature not known
      </ToneBadge>
    )
  return signature.verified ? (
    <ToneBadge tone="success" icon={IconShieldCheck}>
      Signed
    </ToneBadge>
  ) : (
    <ToneBadge tone="waiting" icon={IconShieldOff}>
      {signature.reason === 'unsigned' ? 'Unsigned' : `Not verified: ${signature.reason.replaceAll('_', ' ')}`}
    </ToneBadge>
  )
}

/** The checks of the code host, and the runs of the landed commit. Late results replace earlier ones. */
export function ChangeChecks({ org, change }: { org: string; change: Change }) {
  const { runs, checks } = withLateResults(change)
  return (
    <Section title="Checks and runs" count={checks.length + runs.length}>
      {checks.length + runs.length === 0 ? (
        <Text size="sm" c="dimmed">
          No check or run of the landed commit is known.
        </Text>
      ) : (
        <Stack component="ul" gap={0} className={classes.rows}>
          {checks.map(({ name, source, status, required, url, commit_sha }) => (
            <li key={`${name} ${source} ${commit_sha}`} className={classes.row}>
              <Group gap="sm">
                <StatusBadge status={status} />
                <Text size="sm">
                  <ExternalLink href={url}>
                    <bdi>{name}</bdi>
                  </ExternalLink>
                </Text>
                {required && (
                  <Text size="sm" c="dimmed">
                    Required
                  </Text>
                )}
              </Group>
              <Text size="sm" c="dimmed">
                {source} · {shortSha(commit_sha)}
              </Text>
            </li>
          ))}
          {runs.map(({ id, pipeline_name, attempt, status }) => (
            <li key={id} className={classes.row}>
              <Group gap="sm">
                <StatusBadge status={status} />
                <Link {...pages.run(org, id)} size="sm">
                  {pipeline_name}
                </Link>
              </Group>
              <Text size="sm" c="dimmed">
                Run, attempt {attempt}
              </Text>
            </li>
          ))}
        </Stack>
      )}
    </Section>
  )
}

function withLateResults({ checks, runs, amendments }: Change) {
  const facts = amendments.map((amendment) => amendment.facts)
  const lateChecks = facts.flatMap(({ check }) => (check ? [check] : []))
  const lateRuns = facts.flatMap(({ run }) => (run ? [run] : []))
  const checkKey = ({ name, source, commit_sha }: Change['checks'][number]) => `${name}\n${source}\n${commit_sha}`
  return {
    checks: [...new Map([...checks, ...lateChecks].map((check) => [checkKey(check), check])).values()],
    runs: [...new Map([...runs, ...lateRuns].map((run) => [run.id, run])).values()],
  }
}

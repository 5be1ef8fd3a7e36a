import { Code, Group, Stack, Text } from '@mantine/core'
import { IconHelpCircle, IconShieldCheck, IconShieldOff } from '@tabler/icons-react'
import { ToneBadge } from '../page/badges.tsx'
import { PersonName } from '../page/person.tsx'
import { Section } from '../page/section.tsx'
import { type Change, shortSha } from './change-words.ts'
import classes from './rows.module.css'

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

import { Alert, Group, List, Text, ThemeIcon } from '@mantine/core'
import { IconCircleCheck, IconCircleMinus, IconCircleX, IconLockOff, IconShieldCheck } from '@tabler/icons-react'
import { ToneBadge } from '../page/badges.tsx'
import type { Verification } from './use-verification.ts'
import type { Check } from './verify/checks.ts'

const OUTCOMES = {
  passed: ['Passed', 'success', IconCircleCheck],
  failed: ['Failed', 'failure', IconCircleX],
  skipped: ['Not checked', 'neutral', IconCircleMinus],
} as const

/** What was checked, step by step, and what came out. */
export function StatementChecks({ verification: { checks, isPossible } }: { verification: Verification }) {
  return (
    <div role="status">
      {!isPossible && (
        <Alert mt="md" color="gray" variant="light" icon={<IconLockOff />} title="This page cannot verify signatures">
          <Text size="sm">
            Browsers verify signatures only on https pages. Download the statement and run <code>shiplock verify</code>.
          </Text>
        </Alert>
      )}
      {checks && <Results checks={checks} />}
    </div>
  )
}

function Results({ checks }: { checks: Check[] }) {
  const failed = checks.filter(({ outcome }) => outcome === 'failed').length
  return (
    <>
      <Group mt="md" gap="sm">
        <ToneBadge
          size="lg"
          tone={failed === 0 ? 'success' : 'failure'}
          icon={failed === 0 ? IconShieldCheck : IconCircleX}
        >
          {failed === 0 ? 'Verified' : 'Verification failed'}
        </ToneBadge>
        <Text size="sm" flex="1 1 20rem">
          {failed === 0
            ? 'The statement is as it was signed. The keys come from this server: compare their fingerprints with ones that you got in another way.'
            : `${failed} of ${checks.length} checks failed. Do not rely on this statement.`}
        </Text>
      </Group>
      <List mt="sm" listStyleType="none" spacing={6} aria-label="Checks">
        {checks.map(({ name, outcome, detail }) => {
          const [label, tone, Icon] = OUTCOMES[outcome]
          return (
            <List.Item key={name}>
              <Group gap={8} wrap="nowrap" align="flex-start">
                <ThemeIcon variant="transparent" size={20} style={{ color: `var(--shiplock-${tone})` }}>
                  <Icon size={17} aria-hidden />
                </ThemeIcon>
                <Text size="sm">
                  <b>{name}</b>: {label.toLowerCase()}. {detail}
                </Text>
              </Group>
            </List.Item>
          )
        })}
      </List>
    </>
  )
}

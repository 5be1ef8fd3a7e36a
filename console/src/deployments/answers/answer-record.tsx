import { Alert, List, Stack, Text } from '@mantine/core'
import { IconShieldX } from '@tabler/icons-react'
import { useSession } from '../../api/session.ts'
import { Facts } from '../../page/sections.tsx'
import { type Deployment, versionOf } from '../facts/deployment-state.ts'
import { type AnswerKind, blockingPolicies, type Decision } from './answer-options.ts'

const DECISIONS: Record<AnswerKind, string> = {
  approve: 'Approved',
  override: 'Approved, policies overridden',
  reject: 'Rejected',
}

type AnswerRecordProps = { kind: AnswerKind; deployment: Deployment; decision: Decision }

/** What an answer will record, before it is given. */
export function AnswerRecord({ kind, deployment, decision }: AnswerRecordProps) {
  const { user } = useSession()
  return (
    <Stack gap="sm">
      <Text size="sm" fw={500}>
        This will be recorded
      </Text>
      <Facts
        facts={[
          ['Decision', DECISIONS[kind]],
          ['By', <By key="by" {...user} />],
          ['Deployment', `${deployment.repository_full_name} to ${deployment.environment}`],
          ['Version', <Version key="version" deployment={deployment} />],
        ]}
      />
      {kind === 'override' && <Overridden decision={decision} />}
      <Text size="xs" c="dimmed">
        The deployment, the audit log and the code host show it. {kind === 'reject' && 'A single rejection is final.'}
      </Text>
    </Stack>
  )
}

function By({ name, email }: { name: string; email: string }) {
  return (
    <>
      <bdi>{name}</bdi>
      <Text size="xs" c="dimmed">
        {email} · user
      </Text>
    </>
  )
}

function Version({ deployment }: { deployment: Deployment }) {
  const { branch, version, commit_sha } = deployment
  return (
    <>
      {versionOf(deployment)}
      <Text size="xs" c="dimmed">
        {[version !== null && commit_sha?.slice(0, 7), branch].filter(Boolean).join(' · ')}
      </Text>
    </>
  )
}

function Overridden({ decision }: { decision: Decision }) {
  const policies = blockingPolicies(decision)
  return (
    <Alert color="red" variant="light" icon={<IconShieldX />} title="Policies that you override">
      <List size="sm" spacing={4}>
        {policies.map(({ id, name, version, rules }) => (
          <List.Item key={id}>
            <Text span fw={500} size="sm">
              {name}
            </Text>{' '}
            version {version}
            {rules.length > 0 && `: ${rules.map((rule) => rule.reason ?? rule.name).join('; ')}`}
          </List.Item>
        ))}
        {policies.length === 0 && (
          <List.Item>The policies that block the deployment when you send the answer.</List.Item>
        )}
      </List>
    </Alert>
  )
}

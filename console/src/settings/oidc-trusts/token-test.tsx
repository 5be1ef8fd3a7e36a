import { Alert, Stack, Table, Text, Textarea, Title } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import { useState } from 'react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import type { paths } from '../../api/schema.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { ToneBadge } from '../../page/badges.tsx'

const PATH = '/app/api/orgs/{org}/oidc-trusts/test'

type Explained = paths[typeof PATH]['post']['responses'][200]['content']['application/json']['data']
type Comparison = Explained['trusts'][number]
type Check = Comparison['issuer']

/** Compares the token of a job with every trust. */
export function TokenTest({ onClose }: { onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: testToken } = useApiMutation('post', PATH, [])
  const [explained, setExplained] = useState<Explained | null>(null)
  const test = useApiForm({
    initialValues: { token: '' },
    validate: { token: (token) => (token.trim() === '' ? 'Paste a token.' : null) },
    send: async ({ token }) => {
      setExplained(null)
      const { data } = await testToken({ params: { path: { org } }, body: { token: token.trim() } })
      setExplained(data ?? null)
    },
  })
  return (
    <Stack>
      <ApiFormView form={test} submitLabel="Test token" onCancel={onClose}>
        <Textarea
          label="Token"
          description="The token of a CI job (a JWT). It is not stored, and may have expired."
          minRows={4}
          maxRows={8}
          autosize
          spellCheck={false}
          autoComplete="off"
          data-autofocus
          {...test.form.getInputProps('token')}
        />
      </ApiFormView>
      <Stack role="status" gap="md">
        {explained && <Explanation explained={explained} />}
      </Stack>
    </Stack>
  )
}

function Explanation({ explained: { accepted, details, trust, job, reach, trusts } }: { explained: Explained }) {
  const about =
    job && [job.repository.address ?? job.repository.id, job.ref, job.environment].filter(Boolean).join(' · ')
  return (
    <>
      {accepted ? (
        <Alert color="green" variant="light" icon={<IconCircleCheck />} title="The token is accepted">
          The trust {trust?.name} accepts it. {about && `Its job: ${about}.`} It {reach}.
        </Alert>
      ) : (
        <Alert color="red" variant="light" icon={<IconCircleX />} title="The token is rejected">
          {details}
        </Alert>
      )}
      {trusts.length === 0 && <Text size="sm">The organization has no trust that works.</Text>}
      {trusts.map((comparison) => (
        <ComparedTrust key={comparison.id} comparison={comparison} />
      ))}
    </>
  )
}

function ComparedTrust({ comparison: { name, issuer, audience, conditions } }: { comparison: Comparison }) {
  return (
    <Stack gap={4} component="section" aria-label={name}>
      <Title order={3}>{name}</Title>
      <Table layout="fixed" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Claim</Table.Th>
            <Table.Th>Expected</Table.Th>
            <Table.Th>In the token</Table.Th>
            <Table.Th w="7rem">Result</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[issuer, audience, ...conditions].map((check) => (
            <ComparedClaim key={check.claim} check={check} />
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}

function ComparedClaim({ check: { claim, expected, seen, matches } }: { check: Check }) {
  return (
    <Table.Tr>
      <Table.Td>
        <code>{claim}</code>
      </Table.Td>
      <Table.Td>
        <code>{expected.join(' or ')}</code>
      </Table.Td>
      <Table.Td>
        {seen.length === 0 ? (
          <Text size="sm" c="dimmed">
            Missing
          </Text>
        ) : (
          <code>{seen.join(', ')}</code>
        )}
      </Table.Td>
      <Table.Td>
        {matches ? (
          <ToneBadge tone="success" icon={IconCircleCheck}>
            Matches
          </ToneBadge>
        ) : (
          <ToneBadge tone="failure" icon={IconCircleX}>
            Differs
          </ToneBadge>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

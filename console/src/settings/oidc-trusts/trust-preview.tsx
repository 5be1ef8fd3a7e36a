import { Input, Paper, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Trusted } from './trust-presets.ts'

type TrustPreviewProps = {
  trusted: Trusted
  /** Errors of parts that the form has no field for. */
  errors: ReactNode[]
}

/** The claims that a token must have. */
export function TrustPreview({ trusted: { issuer, audience, conditions }, errors }: TrustPreviewProps) {
  const rows = Object.entries({ iss: issuer, aud: audience ?? location.origin, ...conditions })
  return (
    <Paper p="sm" bg="var(--shiplock-surface)">
      <Stack gap={4}>
        <Text size="sm" fw={500}>
          Claims that a token must have
        </Text>
        <Table layout="fixed" verticalSpacing={4} withRowBorders={false} aria-label="Claims that a token must have">
          <Table.Tbody>
            {rows.map(([claim, value]) => (
              <Table.Tr key={claim}>
                <Table.Th scope="row" w="8.5rem" fw={400}>
                  <code>{claim}</code>
                </Table.Th>
                <Table.Td>
                  <code>{[value].flat().join(' or ') || '…'}</code>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {errors.filter(Boolean).map((error) => (
          <Input.Error key={String(error)} size="sm">
            {error}
          </Input.Error>
        ))}
      </Stack>
    </Paper>
  )
}

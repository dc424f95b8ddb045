// What the configuration file may say of whom the gateway tells, and of what: alerts, log, metrics, OpenTelemetry.

import { Type } from '@sinclair/typebox'
import { ALERT_TYPES } from '../../alerts/alert.ts'
import { closed, duration, oneOf, secret } from './forms.ts'

export const Log = Type.Object(
  { level: Type.Optional(oneOf(['debug', 'info', 'warn', 'error', 'silent'], 'Default info')) },
  closed,
)

export const Metrics = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ description: 'Serve GET /metrics (default false)' })),
    token: Type.Optional(secret('The bearer token /metrics asks for; without it only this machine may read')),
  },
  closed,
)

export const Otlp = Type.Object(
  {
    endpoint: Type.Optional(
      Type.String({
        description:
          'Where traces and metrics go by http/protobuf, without /v1/traces: env:NAME or the URL itself (default OTEL_EXPORTER_OTLP_ENDPOINT; without either nothing is exported)',
        minLength: 1,
        secret: true,
        allowed: 'an http or https URL such as http://127.0.0.1:4318, or env:NAME',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), secret('The value: env:NAME, file:PATH or the text itself'), {
        description: 'Sent with each export (default OTEL_EXPORTER_OTLP_HEADERS)',
      }),
    ),
    service: Type.Optional(
      Type.String({ description: 'service.name (default OTEL_SERVICE_NAME, else sluice)', minLength: 1 }),
    ),
    traces: Type.Optional(Type.Boolean({ description: 'Default true' })),
    metrics: Type.Optional(Type.Boolean({ description: 'Default true' })),
    sample: Type.Optional(
      Type.Number({
        description: 'The share of the traces that begin here (default 1); a client decides on its own',
        minimum: 0,
        maximum: 1,
      }),
    ),
  },
  { ...closed, description: 'OpenTelemetry (docs/operations.md)' },
)

/** An e-mail address, with or without a name before it. */
const ADDRESSED = '^[^\\r\\n<>@]*(?:<[^\\s<>@]+@[^\\s<>@]+>|[^\\s<>@]+@[^\\s<>@]+)$'

const only = Type.Optional(
  Type.Array(oneOf(ALERT_TYPES, 'What is told of'), { description: 'It is told of these alone', minItems: 1 }),
)

export const Alerts = Type.Object(
  {
    webhooks: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            url: Type.String({
              description: 'Where it is posted to: env:NAME, file:PATH or the URL itself',
              minLength: 1,
              secret: true,
              allowed: 'an http or https URL, env:NAME or file:PATH',
            }),
            format: Type.Optional(oneOf(['json', 'slack', 'discord'], 'What it is sent (default json)')),
            secret: Type.Optional(
              secret('What it is signed with, by Standard Webhooks: env:NAME, file:PATH or the secret; json needs one'),
            ),
            only,
          },
          closed,
        ),
        { description: 'By names of your own' },
      ),
    ),
    email: Type.Optional(
      Type.Object(
        {
          to: Type.Array(Type.String({ pattern: ADDRESSED, allowed: 'an e-mail address' }), { minItems: 1 }),
          from: Type.String({
            description: 'The sender, such as sluice@example.com',
            pattern: ADDRESSED,
            allowed: 'an e-mail address',
          }),
          host: Type.String({ description: 'The mail server (SMTP)', minLength: 1 }),
          port: Type.Optional(Type.Integer({ description: 'Default 587; 465 for tls', minimum: 1, maximum: 65535 })),
          security: Type.Optional(oneOf(['starttls', 'tls', 'none'], 'What it insists on (default starttls)')),
          user: Type.Optional(secret('env:NAME, file:PATH or the name itself')),
          password: Type.Optional(secret('env:NAME, file:PATH or the password itself')),
          only,
        },
        closed,
      ),
    ),
    marks: Type.Optional(
      Type.Array(Type.Number({ exclusiveMinimum: 0, maximum: 100, allowed: 'a number of per cent from 1 to 100' }), {
        description: 'Per cent of a quota that are told of (default 80 and 100)',
        minItems: 1,
      }),
    ),
    expiring: Type.Optional(duration('How long before its end a key or credential is told of (default 7d)')),
    resting: Type.Optional(duration('How long an account has not answered when it is told of (default 10m)')),
    error_rate: Type.Optional(
      Type.Object(
        {
          above: Type.Optional(
            Type.Number({
              description: "The share of a model's requests that fail (default 0.5)",
              minimum: 0,
              exclusiveMaximum: 1,
            }),
          ),
          requests: Type.Optional(Type.Integer({ description: 'Of so many at least (default 20)', minimum: 1 })),
          within: Type.Optional(duration('In this time (default 10m)')),
        },
        closed,
      ),
    ),
  },
  { ...closed, description: 'Whom the gateway tells of trouble, and of what (docs/operations.md)' },
)

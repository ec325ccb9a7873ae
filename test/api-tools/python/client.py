"""A program as a user writes it with a generated client: an endpoint, an event, its delivery, two refusals."""

import json
import os
import time

from postern.api.deliveries import list_deliveries
from postern.api.endpoints import create_endpoint, get_endpoint
from postern.api.events import publish_events
from postern.client import AuthenticatedClient
from postern.models import (
    CreateEndpointAnswer,
    CreateEndpointRequest,
    CreateEndpointRequestMetadata,
    Error,
    GetEndpointAnswer,
    ListDeliveriesAnswer,
    ListDeliveriesStatus,
    NewEvent,
    NewEventData,
    PublishedEvent,
)

LOOKS = 300
PAUSE_S = 0.1
receiver = os.environ["RECEIVER_URL"]


def client(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ[token])


user, service = client("USER_TOKEN"), client("SERVICE_TOKEN")

metadata = CreateEndpointRequestMetadata.from_dict({"made_by": "python"})
body = CreateEndpointRequest(url=receiver, events=["invoice.*"], metadata=metadata)
created = create_endpoint.sync(client=user, body=body)
assert isinstance(created, CreateEndpointAnswer), created

data = NewEventData.from_dict({"invoice_id": "inv_1"})
event = NewEvent(type_="invoice.paid", data=data, id="python-1")
published = publish_events.sync(client=service, body=event)
assert isinstance(published, PublishedEvent), published

for _ in range(LOOKS):
    listed = list_deliveries.sync(
        created.endpoint.id, client=user, status=ListDeliveriesStatus.DELIVERED, limit=10
    )
    assert isinstance(listed, ListDeliveriesAnswer), listed
    if listed.deliveries:
        break
    time.sleep(PAUSE_S)
delivered = listed.deliveries[0]

unknown = get_endpoint.sync(str(published.id), client=user)
assert not isinstance(unknown, GetEndpointAnswer)
invalid = create_endpoint.sync(
    client=user, body=CreateEndpointRequest(url=receiver, events=["no.such.type"])
)
assert isinstance(unknown, Error) and isinstance(invalid, Error)

print(
    json.dumps(
        {
            "endpoint_id": str(created.endpoint.id),
            "secret": created.secret[:6],
            "event_id": str(published.id),
            "delivered": {
                "event_id": str(delivered.event_id),
                "status": delivered.status,
                "attempt": delivered.attempt,
            },
            "unknown": unknown.error,
            "invalid": {"error": invalid.error, "path": invalid.issues[0].path},
        }
    )
)

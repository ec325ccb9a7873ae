"""The ten families by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import (
    authorize_download,
    derive_deadline,
    evaluate_expiry,
    issue_signed_url,
    project_library,
    reconcile_objects,
    validate_archive,
    validate_bucket,
    validate_delivery,
    validate_object_key,
)
from .rules import Call, Json, Rules

Operation = Callable[[Json, Call, Rules], Json]

OPERATIONS: Mapping[str, Operation] = {
    "authorize_download": authorize_download.run,
    "derive_deadline": derive_deadline.run,
    "evaluate_expiry": evaluate_expiry.run,
    "issue_signed_url": issue_signed_url.run,
    "project_library": project_library.run,
    "reconcile_objects": reconcile_objects.run,
    "validate_archive": validate_archive.run,
    "validate_bucket": validate_bucket.run,
    "validate_delivery": validate_delivery.run,
    "validate_object_key": validate_object_key.run,
}

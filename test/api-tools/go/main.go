// A program as a user writes it with a generated client: an endpoint, an event, its delivery, two refusals.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

const (
	looks = 300
	pause = 100 * time.Millisecond
)

func client(token string) *ClientWithResponses {
	made, err := NewClientWithResponses(os.Getenv("API_URL"), WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+os.Getenv(token))
			return nil
		}))
	must(err)
	return made
}

func main() {
	ctx := context.Background()
	user, service := client("USER_TOKEN"), client("SERVICE_TOKEN")
	receiver := os.Getenv("RECEIVER_URL")

	created, err := user.CreateEndpointWithResponse(ctx, CreateEndpointRequest{
		Url:      receiver,
		Events:   &[]string{"invoice.*"},
		Metadata: &map[string]string{"made_by": "go"},
	})
	must(err)
	require(created.JSON201 != nil, created.Body)
	endpoint := created.JSON201.Endpoint

	key := "go-1"
	var event PublishEventsRequest
	data := map[string]any{"invoice_id": "inv_1"}
	must(event.FromNewEvent(NewEvent{Type: "invoice.paid", Data: &data, Id: &key}))
	answer, err := service.PublishEventsWithResponse(ctx, event)
	must(err)
	require(answer.JSON202 != nil, answer.Body)
	published, err := answer.JSON202.AsPublishedEvent()
	must(err)

	delivery := awaitDelivery(ctx, user, endpoint.Id.String())

	unknown, err := user.GetEndpointWithResponse(ctx, published.Id.String())
	must(err)
	require(unknown.JSON404 != nil, unknown.Body)
	invalid, err := user.CreateEndpointWithResponse(ctx, CreateEndpointRequest{
		Url: receiver, Events: &[]string{"no.such.type"},
	})
	must(err)
	require(invalid.JSON400 != nil && invalid.JSON400.Issues != nil, invalid.Body)

	must(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"endpoint_id": endpoint.Id,
		"secret":      created.JSON201.Secret[:6],
		"event_id":    published.Id,
		"delivered":   map[string]any{"event_id": delivery.EventId, "status": delivery.Status, "attempt": delivery.Attempt},
		"unknown":     unknown.JSON404.Error,
		"invalid":     map[string]any{"error": invalid.JSON400.Error, "path": (*invalid.JSON400.Issues)[0].Path},
	}))
}

func awaitDelivery(ctx context.Context, user *ClientWithResponses, id string) Delivery {
	status, limit := ListDeliveriesParamsStatus("delivered"), 10
	for range looks {
		listed, err := user.ListDeliveriesWithResponse(ctx, id, &ListDeliveriesParams{Status: &status, Limit: &limit})
		must(err)
		require(listed.JSON200 != nil, listed.Body)
		if len(listed.JSON200.Deliveries) > 0 {
			return listed.JSON200.Deliveries[0]
		}
		time.Sleep(pause)
	}
	log.Fatal("no delivery")
	return Delivery{}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func require(holds bool, body []byte) {
	if !holds {
		must(errors.New(fmt.Sprint("an answer that was not expected: ", string(body))))
	}
}

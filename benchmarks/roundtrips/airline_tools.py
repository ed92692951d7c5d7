"""The functions of the recorded conversations, declared anew with types, and played from what was recorded."""

# ruff: noqa: D101 - what their fields say needs no more words, and a model that writes programs pays for each

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NotRequired

from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

from codeact import Tool, tool

READS = frozenset(
    {
        "calculate",
        "get_reservation_details",
        "get_user_details",
        "list_all_airports",
        "search_direct_flight",
        "search_onestop_flight",
    }
)
"""Those that change nothing, which programs may call."""

WRITES = frozenset(
    {
        "book_reservation",
        "cancel_reservation",
        "send_certificate",
        "transfer_to_human_agents",
        "update_reservation_baggages",
        "update_reservation_flights",
        "update_reservation_passengers",
    }
)
"""Those that have consequences: calls outside of programs, in both forms."""

THOUGHTS = frozenset({"think"})
"""Those that only write down what the model thinks: no program can, so they stay calls and end a run of reads."""


class Passenger(TypedDict):
    first_name: str
    last_name: str
    dob: str


class Leg(TypedDict):
    origin: str
    destination: str
    flight_number: str
    date: str
    price: int


class Payment(TypedDict):
    payment_id: str
    amount: float


class Reservation(TypedDict):
    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: str
    cabin: str
    flights: list[Leg]
    passengers: list[Passenger]
    payment_history: list[Payment]
    created_at: str
    total_baggages: int
    nonfree_baggages: int
    insurance: str
    status: NotRequired[str]


class Flight(TypedDict):
    flight_number: str
    origin: str
    destination: str
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    status: str
    available_seats: dict[str, int]
    prices: dict[str, int]
    date: NotRequired[str]


class User(TypedDict):
    name: dict[str, str]
    address: dict[str, str]
    email: str
    dob: str
    payment_methods: dict[str, dict[str, Any]]
    saved_passengers: list[Passenger]
    membership: str
    reservations: list[str]


class FlightChoice(TypedDict):
    flight_number: str
    date: str


Play = Callable[[str, dict[str, object]], Any]
"""What was recorded for a call."""


def airline_tools(play: Play) -> tuple[Tool[..., Any], ...]:
    """The functions of the airline's support desk.

    Args:
        play: gives the recorded result of a read; the others are only declared.
    """

    @tool
    def calculate(expression: str) -> str:
        """Reckon out an expression of numbers, + - * / and brackets."""
        return str(play("calculate", {"expression": expression}))

    @tool
    def get_reservation_details(reservation_id: str) -> Reservation:
        """Get a reservation by its id."""
        found: Reservation = play("get_reservation_details", {"reservation_id": reservation_id})
        return found

    @tool
    def get_user_details(user_id: str) -> User:
        """Get the profile of a user, with the ids of their reservations."""
        found: User = play("get_user_details", {"user_id": user_id})
        return found

    @tool
    def list_all_airports() -> dict[str, str]:
        """List the codes of all airports with their cities."""
        found: dict[str, str] = play("list_all_airports", {})
        return found

    @tool
    def search_direct_flight(origin: str, destination: str, date: str) -> list[Flight]:
        """Find the direct flights between two airports (codes) on a day (YYYY-MM-DD)."""
        asked: dict[str, object] = {"origin": origin, "destination": destination, "date": date}
        found: list[Flight] = play("search_direct_flight", asked)
        return found

    @tool
    def search_onestop_flight(origin: str, destination: str, date: str) -> list[list[Flight]]:
        """Find pairs of flights with one stop between two airports (codes) on a day (YYYY-MM-DD)."""
        asked: dict[str, object] = {"origin": origin, "destination": destination, "date": date}
        found: list[list[Flight]] = play("search_onestop_flight", asked)
        return found

    return (
        calculate,
        get_reservation_details,
        get_user_details,
        list_all_airports,
        search_direct_flight,
        search_onestop_flight,
        *_OUTSIDE,
    )


@tool
def think(thought: str) -> str:
    """Write down a thought; it changes nothing and looks nothing up."""
    return thought[:0]


@tool
def book_reservation(  # noqa: PLR0913, PLR0917 - as it was recorded
    user_id: str,
    origin: str,
    destination: str,
    flight_type: str,
    cabin: str,
    flights: list[FlightChoice],
    passengers: list[Passenger],
    payment_methods: list[Payment],
    total_baggages: int,
    nonfree_baggages: int,
    insurance: str,
) -> Reservation:
    """Book flights for passengers: one_way or round_trip, in basic_economy, economy or business, insurance yes or no."""
    raise NotImplementedError


@tool
def cancel_reservation(reservation_id: str) -> Reservation:
    """Cancel a whole reservation."""
    raise NotImplementedError


@tool
def send_certificate(user_id: str, amount: int) -> str:
    """Give a user a certificate worth some dollars."""
    raise NotImplementedError


@tool
def transfer_to_human_agents(summary: str) -> str:
    """Hand the user over to a human, with a summary of the matter."""
    raise NotImplementedError


@tool
def update_reservation_baggages(
    reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
) -> Reservation:
    """Change how many bags a reservation has, and how many of them are paid for."""
    raise NotImplementedError


@tool
def update_reservation_flights(
    reservation_id: str, cabin: str, flights: list[FlightChoice], payment_id: str
) -> Reservation:
    """Change the cabin or the flights of a reservation; all its flights are given, also those that stay."""
    raise NotImplementedError


@tool
def update_reservation_passengers(reservation_id: str, passengers: list[Passenger]) -> Reservation:
    """Change the passengers of a reservation, as many as there were."""
    raise NotImplementedError


_OUTSIDE: tuple[Tool[..., Any], ...] = (
    think,
    book_reservation,
    cancel_reservation,
    send_certificate,
    transfer_to_human_agents,
    update_reservation_baggages,
    update_reservation_flights,
    update_reservation_passengers,
)
